// Deliveries to receivers that fail in every way.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { verifyWebhook } from '@svc/sdk';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../src/config/settings/secret.ts';
import { eventually } from '../eventually.ts';
import type { WebhookSender } from '../../src/deployment/webhooks/webhook-sender.ts';
import type { DeliveryRow } from '../../src/storage/deployment/webhooks/delivery-rows.ts';
import { deliveryStorage } from '../../src/storage/deployment/webhooks/webhook-deliveries.ts';
import { testDatabase } from '../database.ts';
import { endRun, openSender, secret, type EndedRun } from './queue.ts';
import { openSink, type Received } from './sink.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());
const deliveries = fixture(() => deliveryStorage(database));

const senders: WebhookSender[] = [];
const sender = (options?: Parameters<typeof openSender>[1]): WebhookSender => {
  const opened = openSender(database, options);
  senders.push(opened);
  return opened;
};
afterEach(async () => {
  await Promise.all(senders.splice(0).map((one) => one[Symbol.asyncDispose]()));
  await database.script('delete from webhook_deliveries');
});

const deliveryOf = async ({ run_id, thread_id }: EndedRun): Promise<DeliveryRow> => {
  const [row, ...others] = await deliveries.list(run_id, thread_id, everyRow);
  expect(others).toEqual([]);
  if (!row) throw new Error('there is no delivery');
  return row;
};

const ended = (run: EndedRun): Promise<DeliveryRow> =>
  eventually(async () => {
    const row = await deliveryOf(run);
    expect(row.status).not.toBe('pending');
    return row;
  });

const expectGenuine = async (requests: Received[]): Promise<void> => {
  for (const { headers, text } of requests) {
    const header = headers['svc-signature'] as string;
    expect(await verifyWebhook(secret, header, text)).toBe(true);
    expect(await verifyWebhook(`${secret}!`, header, text)).toBe(false);
  }
  expect(new Set(requests.map(({ headers }) => headers['svc-delivery-id'])).size).toBe(1);
};

describe('a webhook', () => {
  it('gets the run, its values and its times, signed', async () => {
    await using sink = await openSink();
    const run = await endRun(database, `${sink.url}?key=1`, { values: '{"out":[1,{"a":"é"}]}' });
    sender();
    const { status, attempt, log, error, ended_at } = await ended(run);
    expect({ status, attempt, error }).toEqual({ status: 'delivered', attempt: 1, error: null });
    expect(ended_at).toMatch(/Z$/);
    expect(log).toEqual([{ at: expect.stringMatching(/Z$/), status: 200, ms: expect.any(Number) }]);
    const [request] = sink.received as [Received];
    expect(sink.received).toHaveLength(1);
    await expectGenuine(sink.received);
    expect(request.path).toBe('/hook?key=1');
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'svc-delivery-id': (await deliveryOf(run)).delivery_id,
      'x-from': 'svc',
    });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(request.body).toEqual({
      ...run,
      assistant_id: expect.any(String),
      status: 'success',
      created_at: time,
      updated_at: time,
      // The run of the test was never claimed.
      started_at: null,
      ended_at: time,
      run_started_at: time,
      run_ended_at: time,
      webhook_sent_at: time,
      metadata: {},
      multitask_strategy: 'enqueue',
      kwargs: { input: { text: 'a\u0000b\ud800' }, stream_mode: ['values'] },
      attempt: 1,
      error: null,
      values: { out: [1, { a: 'é' }] },
    });
  });

  it('gets the error of a failed run, and null for missing values', async () => {
    await using sink = await openSink();
    const error = { error: 'TypeError', message: 'the graph failed on purpose' };
    const run = await endRun(database, sink.url, { values: null, error: JSON.stringify(error) });
    sender();
    await ended(run);
    expect(sink.received[0]?.body).toMatchObject({ status: 'error', error, values: null });
  });

  it('is queued once for a run that has one', async () => {
    const without = await endRun(database, null);
    expect(await deliveries.list(without.run_id, without.thread_id, everyRow)).toEqual([]);
    const run = await endRun(database, 'https://example.com/hook');
    await database.query({ name: 'again', text: 'select queue_webhook($1, $2)' }, [run.run_id, '{}']);
    expect((await deliveryOf(run)).status).toBe('pending');
  });

  it('is not queued when the end of the run is not committed', async () => {
    const run = await endRun(database, 'https://example.com/hook');
    await database.script('delete from webhook_deliveries');
    const broken = database.transact(async (tx) => {
      await tx.query({ name: 'again', text: 'select queue_webhook($1, $2)' }, [run.run_id, '{}']);
      throw new Error('no');
    });
    await expect(broken).rejects.toThrow('no');
    expect(await deliveries.list(run.run_id, run.thread_id, everyRow)).toEqual([]);
  });
});

describe('a receiver', () => {
  it('that answers 500 a few times gets the same delivery until it accepts it', async () => {
    await using sink = await openSink((response, count) => response.writeHead(count < 4 ? 500 : 204).end());
    const run = await endRun(database, sink.url);
    sender();
    const row = await ended(run);
    expect(row).toMatchObject({ status: 'delivered', attempt: 4, error: null });
    expect(row.log.map(({ status }) => status)).toEqual([500, 500, 500, 204]);
    expect(row.log[0]?.error).toBe('The answer was 500');
    await expectGenuine(sink.received);
  });

  it.each([408, 425, 429, 500, 503])(
    'that answers %i gets retries until the attempts are used up',
    async (status) => {
      await using sink = await openSink((response) => response.writeHead(status).end());
      const run = await endRun(database, sink.url);
      sender();
      expect(await ended(run)).toMatchObject({
        status: 'failed',
        attempt: 4,
        error: `The answer was ${status}`,
      });
      expect(sink.received).toHaveLength(4);
    },
  );

  it.each([400, 401, 404, 410, 422])('that answers %i gets no retry', async (status) => {
    await using sink = await openSink((response) => response.writeHead(status).end());
    const run = await endRun(database, sink.url);
    sender();
    expect(await ended(run)).toMatchObject({ status: 'failed', attempt: 1 });
    expect(sink.received).toHaveLength(1);
  });

  it.each([301, 302, 307, 308])('that answers %i is not followed', async (status) => {
    await using elsewhere = await openSink();
    await using sink = await openSink((response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    const run = await endRun(database, sink.url);
    sender();
    const row = await ended(run);
    expect(row).toMatchObject({ status: 'failed', attempt: 1 });
    expect(row.error).toContain('redirects are not followed');
    expect(elsewhere.received).toEqual([]);
  });

  it('that is not running gets retries until the attempts are used up', async () => {
    const sink = await openSink();
    await sink[Symbol.asyncDispose]();
    const run = await endRun(database, sink.url);
    sender();
    const row = await ended(run);
    expect(row).toMatchObject({ status: 'failed', attempt: 4, error: 'The request failed: ECONNREFUSED' });
    expect(row.log).toHaveLength(4);
  });

  it('that accepts a connection and hangs times out', async () => {
    await using sink = await openSink(() => undefined);
    const run = await endRun(database, sink.url);
    sender({ timeoutMs: 50, backoffMs: [5] });
    expect(await ended(run)).toMatchObject({
      status: 'failed',
      attempt: 2,
      error: 'There was no answer within 50 ms',
    });
  });

  it('that answers with 100 MB has received the delivery, and is disconnected', async () => {
    let sent = 0;
    await using sink = await openSink((response) => {
      const chunk = Buffer.alloc(1_048_576);
      const pump = (): void => {
        if (response.destroyed || sent >= 100 * chunk.length) return;
        sent += chunk.length;
        response.write(chunk, pump);
      };
      pump();
    });
    const run = await endRun(database, sink.url);
    sender({ timeoutMs: 10_000 });
    expect(await ended(run)).toMatchObject({ status: 'delivered', attempt: 1 });
    expect(sent).toBeLessThan(50 * 1_048_576);
  });

  it('that is no longer allowed is not called', async () => {
    await using sink = await openSink();
    const run = await endRun(database, sink.url);
    sender({ allow: [] });
    expect(await ended(run)).toMatchObject({
      status: 'failed',
      attempt: 1,
      error: 'The URL must not name a private or reserved address',
    });
    expect(sink.received).toEqual([]);
  });

  it('that hangs does not delay others', async () => {
    await using hanging = await openSink(() => undefined);
    await using sink = await openSink();
    for (let i = 0; i < 40; i++) await endRun(database, hanging.url);
    const run = await endRun(database, sink.url);
    sender({ timeoutMs: 600_000, leaseMs: 900_000, graceMs: 10 });
    expect(await ended(run)).toMatchObject({ status: 'delivered' });
    expect(hanging.received.length).toBeLessThan(17);
  });
});

describe('a header with a secret', () => {
  it('is sent to listed hosts only, not to other hosts that a client names', async () => {
    await using sink = await openSink();
    const urls = ['hooks.example.com', 'a.hooks.example.com', 'evil.test', 'hooks.example.com.evil.test'].map(
      (host) => `http://${host}:${sink.port}/${host}`,
    );
    const runs = await Promise.all(urls.map((url) => endRun(database, url)));
    sender({
      allow: urls.map((url) => new URL(url).hostname),
      rules: {
        secretHeaders: new Map([['authorization', new Secret('Bearer token')]]),
        secretDomains: ['hooks.example.com', '*.hooks.example.com'],
      },
    });
    for (const run of runs) expect(await ended(run)).toMatchObject({ status: 'delivered' });
    const seen = sink.received.map(({ path, headers }) => [
      path.slice(1),
      headers.authorization,
      headers['x-from'],
    ]);
    expect(new Set(seen.map(String))).toEqual(
      new Set([
        'a.hooks.example.com,Bearer token,svc',
        'evil.test,,svc',
        'hooks.example.com,Bearer token,svc',
        'hooks.example.com.evil.test,,svc',
      ]),
    );
  });
});

/** The time of the requests of senders with this limit: none of them times out before the test says so. */
const requestClock = () => {
  const timeoutMs = 3_600_001;
  const limits = new Map<NodeJS.Timeout, () => void>();
  const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout];
  const setSpy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    ...given: Parameters<typeof setTimeout>
  ) => {
    const [callback, ms] = given;
    const timer = set(...given);
    if (ms === timeoutMs) limits.set(timer, callback);
    return timer;
  }) as typeof setTimeout);
  const clearSpy = vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    limits.delete(timer as NodeJS.Timeout);
    clear(timer);
  });
  return {
    timeoutMs,
    /** Requests under way. */
    running: () => limits.size,
    timeOut: () => {
      for (const [timer, callback] of limits) {
        limits.delete(timer);
        clear(timer);
        callback();
      }
    },
    [Symbol.dispose]: () => {
      setSpy.mockRestore();
      clearSpy.mockRestore();
    },
  };
};

describe('receivers that hang', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `h${at}.hanging.test`);

  it('use a few slots per origin, so those of thirty-two origins do not delay another', async () => {
    await using hanging = await openSink(() => undefined);
    await using sink = await openSink();
    const hosts = names(32);
    for (const host of hosts)
      for (let count = 0; count < 12; count++) await endRun(database, `http://${host}:${hanging.port}/`);
    const run = await endRun(database, `http://well.test:${sink.port}/`);
    sender({ timeoutMs: 600_000, leaseMs: 900_000, graceMs: 10, allow: [...hosts, 'well.test'] });
    expect(await ended(run)).toMatchObject({ status: 'delivered', attempt: 1 });
    for (const host of hosts) {
      const requests = hanging.received.filter(({ headers }) => headers.host?.startsWith(`${host}:`));
      expect(requests.length).toBeLessThanOrEqual(4);
    }
  });

  it('and timed out before get one slot each, and together at most half of all slots', async () => {
    using clock = requestClock();
    let open = 0;
    const openAtRequest: number[] = [];
    await using hanging = await openSink(() => void openAtRequest.push((open += 1)));
    await using sink = await openSink();
    const hosts = names(200);
    for (const host of hosts) await endRun(database, `http://${host}:${hanging.port}/`);
    const allow = [...hosts, 'well.test'];
    const backoffMs = Array.from({ length: 90 }, () => 1);
    sender({ timeoutMs: clock.timeoutMs, leaseMs: 2 * clock.timeoutMs, graceMs: 10, allow, backoffMs });
    /** Resolves when so many requests, and all that have been sent, wait for a response. */
    const untilOpen = (count: number) =>
      eventually(() => {
        expect(open).toBeGreaterThanOrEqual(count);
        expect(open).toBe(clock.running());
      });
    const timeOut = () => {
      open = 0;
      clock.timeOut();
    };
    // All slots are taken by unknown origins.
    await untilOpen(128);
    // Each unknown origin is tried once. Then silent origins share 64 slots, of which a claim takes up to eight.
    while (openAtRequest.length <= 600) {
      timeOut();
      await untilOpen(57);
    }
    expect(Math.max(...openAtRequest.slice(0, 200))).toBeGreaterThan(64);
    expect(Math.max(...openAtRequest.slice(500))).toBeLessThanOrEqual(64);
    const run = await endRun(database, `http://well.test:${sink.port}/`);
    expect(await ended(run)).toMatchObject({ status: 'delivered' });
  });
});

describe('senders', () => {
  it('of one database send each delivery once', async () => {
    await using sink = await openSink((response) => void setTimeout(() => response.end(), 5));
    const runs = await Promise.all(Array.from({ length: 60 }, () => endRun(database, sink.url)));
    for (let i = 0; i < 3; i++) sender();
    for (const run of runs) expect(await ended(run)).toMatchObject({ status: 'delivered', attempt: 1 });
    expect(sink.received).toHaveLength(runs.length);
    expect(new Set(sink.received.map(({ body }) => body['run_id']))).toEqual(
      new Set(runs.map(({ run_id }) => run_id)),
    );
  });

  it('take over deliveries of a killed sender when its lease has ended', async () => {
    await using sink = await openSink((response, count) => void (count > 1 && response.end()));
    const run = await endRun(database, sink.url);
    const child = fork(
      fileURLToPath(new URL('./sender-process.ts', import.meta.url)),
      [JSON.stringify(database.options), '1000'],
      { execArgv: ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] },
    );
    await eventually(() => expect(sink.received).toHaveLength(1));
    child.kill('SIGKILL');
    await once(child, 'exit');
    sender();
    const row = await ended(run);
    expect(row).toMatchObject({ status: 'delivered', attempt: 2 });
    expect(row.log).toHaveLength(1);
    expect(sink.received).toHaveLength(2);
    await expectGenuine(sink.received);
    const [first, second] = sink.received.map(({ body }) => Date.parse(body['webhook_sent_at'] as string));
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('stop retrying a delivery that has lost a sender in every attempt', async () => {
    const run = await endRun(database, 'http://127.0.0.1:1/');
    await database.script('update webhook_deliveries set attempt = 4');
    sender();
    expect(await ended(run)).toMatchObject({
      status: 'failed',
      error: 'The server was lost during every attempt',
    });
  });

  it('that return after their lease has ended change nothing', async () => {
    const run = await endRun(database, 'https://example.com/hook');
    const place = { busy: [], after: '' };
    const [claimed] = (await deliveries.claim(1, 0, place)).claimed;
    if (!claimed) throw new Error('nothing was claimed');
    const [second] = await eventually(async () => {
      const again = await deliveries.claim(1, 60_000, place);
      expect(again.claimed).toHaveLength(1);
      return again.claimed;
    });
    const attempt = { at: claimed.claimed_at, status: 200, ms: 1 };
    expect(await deliveries.record(claimed, { status: 'delivered', retryMs: 0, attempt })).toBe(false);
    await deliveries.release(claimed);
    expect(await deliveryOf(run)).toMatchObject({ status: 'pending', attempt: 2, log: [] });
    expect(second?.lease_token).toBeGreaterThan(claimed.lease_token);
  });

  it('that stop release unanswered deliveries without charging an attempt', async () => {
    await using sink = await openSink((response, count) => void (count > 1 && response.end()));
    const run = await endRun(database, sink.url);
    const first = sender({ timeoutMs: 60_000, leaseMs: 60_000, graceMs: 20 });
    await eventually(() => expect(sink.received).toHaveLength(1));
    await first[Symbol.asyncDispose]();
    expect(await deliveryOf(run)).toMatchObject({ status: 'pending', attempt: 0 });
    sender();
    expect(await ended(run)).toMatchObject({ status: 'delivered', attempt: 1 });
  });

  it('survive an outage of the database', async () => {
    await using sink = await openSink();
    const lines: string[] = [];
    await database.script('alter table webhook_deliveries rename to elsewhere');
    sender({ onLog: (line) => lines.push(line) });
    await eventually(() => expect(lines.join('')).toContain('failed to claim webhooks, retrying'));
    await database.script('alter table elsewhere rename to webhook_deliveries');
    expect(await ended(await endRun(database, sink.url))).toMatchObject({ status: 'delivered' });
  });
});

describe('the log', () => {
  it('names the origin of a failing receiver, and no key of a query or header', async () => {
    await using sink = await openSink((response) => response.writeHead(403).end('hunter2'));
    const lines: string[] = [];
    const run = await endRun(database, `${sink.url}?key=hunter2`, { values: '"hunter2"' });
    sender({ onLog: (line) => lines.push(line) });
    await ended(run);
    await eventually(() => expect(lines.join('')).toContain('failed permanently'));
    expect(lines.join('')).toContain(`"origin":"http://127.0.0.1:${sink.port}"`);
    expect(lines.join('')).not.toMatch(/hunter2|Bearer|v1=/);
  });
});

describe('finished deliveries', () => {
  it('are deleted when they are old, a few at a time', async () => {
    await using sink = await openSink();
    const runs = await Promise.all(Array.from({ length: 5 }, () => endRun(database, sink.url)));
    {
      await using _sender = openSender(database);
      for (const run of runs) await ended(run);
    }
    const pending = await endRun(database, sink.url);
    expect(await deliveries.deleteEnded(60_000, 10)).toBe(0);
    await database.script(`update webhook_deliveries set ended_at = ended_at - interval '1 h'`);
    expect(await deliveries.deleteEnded(60_000, 3)).toBe(3);
    expect(await deliveries.deleteEnded(60_000, 3)).toBe(2);
    expect((await deliveryOf(pending)).ended_at).toBeNull();
  });
});
