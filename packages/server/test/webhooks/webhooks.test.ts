// Webhooks of real runs on a real server, and POST …/webhooks/:delivery_id/retry, which sends a delivery again.
import { randomUUID } from 'node:crypto';
import { createClient, verifyWebhook, type WebhookDelivery } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { secret } from './queue.ts';
import { openSink } from './sink.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() =>
  startTestServer({ settings: { egressAllow: '127.0.0.1', webhookSecret: secret } }),
);
const client = fixture(() => createClient({ apiUrl: server.url }));

const input = { do: 'date' };
const values = { out: '1970-01-01T00:00:00.000Z' };
const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;

describe('a run with a webhook', () => {
  it('delivers its end, and lists the delivery', async () => {
    await using sink = await openSink();
    const thread_id = await newThread();
    const { run_id } = await client.runs.create(thread_id, 'probe', {
      input,
      webhook: `${sink.url}?key=hunter2#frag`,
      metadata: { ticket: 7 },
    });
    await eventually(() => expect(sink.received).toHaveLength(1));
    const [{ path, headers, text, body } = { path: '', headers: {}, text: '', body: {} }] = sink.received;
    expect(path).toBe('/hook?key=hunter2');
    expect(await verifyWebhook(secret, headers['svc-signature'] as string, text)).toBe(true);
    const { error: _, ...run } = { error: null, ...(await client.runs.get(thread_id, run_id)) };
    expect(body).toMatchObject({ ...run, error: null, values });

    const [delivery, ...others] = await eventually(async () => {
      const deliveries = await client.runs.webhooks(thread_id, run_id);
      expect(deliveries[0]?.status).toBe('delivered');
      return deliveries;
    });
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({
      delivery_id: headers['svc-delivery-id'],
      run_id,
      thread_id,
      url: sink.url,
      attempt: 1,
      attempts: [{ status: 200 }],
      error: null,
      next_attempt_at: null,
      ended_at: expect.any(String),
    });
    expect(JSON.stringify(delivery)).not.toContain('hunter2');
  });

  it('ends as without one when the receiver is not running', async () => {
    await using broken = await openSink((response) => response.writeHead(500).end());
    await using hanging = await openSink(() => undefined);
    for (const webhook of [broken.url, hanging.url, 'http://127.0.0.1:1/']) {
      const thread_id = await newThread();
      const { run_id } = await client.runs.create(thread_id, 'probe', { input, webhook });
      await client.runs.join(thread_id, run_id);
      expect((await client.runs.get(thread_id, run_id)).status).toBe('success');
      expect((await client.threads.get(thread_id)).status).toBe('idle');
    }
    const thread_id = await newThread();
    const { run_id } = await client.runs.create(thread_id, 'probe', { input, webhook: broken.url });
    const [delivery] = await eventually(async () => {
      const deliveries = await client.runs.webhooks(thread_id, run_id);
      expect(deliveries[0]?.attempts).toHaveLength(1);
      return deliveries;
    });
    expect(delivery).toMatchObject({
      status: 'pending',
      attempt: 1,
      error: 'The answer was 500',
      ended_at: null,
    });
    expect(Date.parse(delivery?.next_attempt_at ?? '')).toBeGreaterThan(
      Date.parse(delivery?.created_at ?? ''),
    );
  });

  it('delivers an error', async () => {
    await using sink = await openSink();
    await client.runs.create(await newThread(), 'probe', { input: { do: 'throw' }, webhook: sink.url });
    await eventually(() => expect(sink.received).toHaveLength(1));
    expect(sink.received[0]?.body).toMatchObject({
      status: 'error',
      error: { error: 'TypeError', message: 'the graph failed on purpose' },
    });
  });

  it('may be stateless', async () => {
    await using sink = await openSink();
    const run = await client.runs.create(null, 'probe', { input, webhook: sink.url });
    await eventually(() => expect(sink.received).toHaveLength(1));
    expect(sink.received[0]?.body).toMatchObject({
      run_id: run.run_id,
      status: 'success',
      values,
    });
    expect(await client.runs.webhooks(run.thread_id, run.run_id)).toHaveLength(1);
  });

  it('delivers its values when it waited for its thread', async () => {
    await using sink = await openSink();
    const thread_id = await newThread();
    const before = await client.runs.create(thread_id, 'probe', { input: { do: 'waitForAbort' } });
    await client.runs.create(thread_id, 'probe', { input, webhook: sink.url });
    await client.runs.cancel(thread_id, before.run_id);
    await eventually(() => expect(sink.received).toHaveLength(1));
    expect(sink.received[0]?.body).toMatchObject({ status: 'success', values });
  });

  it('delivers its values when an attempt was lost', async () => {
    await using sink = await openSink();
    const lost = { do: 'exitOnce', ms: 1 };
    await client.runs.create(await newThread(), 'probe', { input: lost, webhook: sink.url });
    await eventually(() => expect(sink.received).toHaveLength(1));
    expect(sink.received[0]?.body).toMatchObject({ status: 'success', values: { out: 'done' } });
  });

  it('delivers its values when a cron created it', async () => {
    await using sink = await openSink();
    const schedule = { schedule: '0 3 * * *', input, webhook: sink.url };
    const { cron_id } = await client.crons.create(null, 'probe', schedule);
    await server.database.script(
      `update crons set next_run_date = now() - interval '1 day' where cron_id = '${cron_id}'`,
    );
    await eventually(() => expect(sink.received).toHaveLength(1));
    expect(sink.received[0]?.body).toMatchObject({ status: 'success', values });
  });

  it('has no deliveries before it ended; a run without a webhook never has any', async () => {
    const thread_id = await newThread();
    const { run_id } = await client.runs.create(thread_id, 'probe', { input });
    await client.runs.join(thread_id, run_id);
    expect(await client.runs.webhooks(thread_id, run_id)).toEqual([]);
    const elsewhere = await newThread();
    await expect(client.runs.webhooks(elsewhere, run_id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('a webhook to a forbidden address', () => {
  const forbidden = [
    'http://localhost:9/',
    'http://127.0.0.2/',
    'http://2130706433.5/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    'https://user:hunter2@example.com/',
    'https://example.com:22/',
    'file:///etc/passwd',
    '/custom/webhook',
    'hook',
    `https://example.com/${'x'.repeat(9_000)}`,
  ];
  it.each(forbidden.map((webhook) => [webhook.slice(0, 60), webhook]))(
    '%s is rejected before a run is created',
    async (_, webhook) => {
      const thread_id = await newThread();
      const one = { assistant_id: 'probe', input, webhook };
      for (const [path, body] of [
        [`/threads/${thread_id}/runs`, one],
        [`/threads/${thread_id}/runs/wait`, one],
        [`/threads/${thread_id}/runs/stream`, one],
        ['/runs', one],
        ['/runs/wait', one],
        ['/runs/stream', one],
        ['/runs/batch', [one]],
      ] as const) {
        const { status, body: problem } = await server.call('POST', path, body);
        expect(status, path).toBe(422);
        expect(problem).toMatchObject({ code: 'invalid', detail: [{ loc: ['body', 'webhook'] }] });
        expect(JSON.stringify(problem)).not.toContain('hunter2');
      }
      expect(await client.runs.list(thread_id)).toEqual([]);
    },
  );
});

/** An ended run. */
const ended = async (webhook: string) => {
  const thread_id = await newThread();
  const { run_id } = await client.runs.create(thread_id, 'probe', { input, webhook });
  await client.runs.join(thread_id, run_id);
  return { thread_id, run_id };
};

/** The delivery, when it has had this many attempts with this outcome. */
const delivery = (
  { thread_id, run_id }: { thread_id: string; run_id: string },
  status: WebhookDelivery['status'],
  attempts: number,
): Promise<WebhookDelivery> =>
  eventually(async () => {
    const [found] = await client.runs.webhooks(thread_id, run_id);
    expect([found?.status, found?.attempts.length]).toEqual([status, attempts]);
    return found!;
  });

const retry = ({ thread_id, run_id, delivery_id }: WebhookDelivery): Promise<WebhookDelivery> =>
  client.runs.retryWebhook(thread_id, run_id, delivery_id);

describe('a delivery', () => {
  it('that failed is sent again with the same id and content, and keeps its earlier attempts', async () => {
    let status = 418;
    await using sink = await openSink((response) => response.writeHead(status).end());
    const failed = await delivery(await ended(sink.url), 'failed', 1);
    status = 200;
    expect(await retry(failed)).toMatchObject({
      delivery_id: failed.delivery_id,
      status: 'pending',
      attempt: 0,
      attempts: failed.attempts,
      next_attempt_at: expect.any(String),
      ended_at: null,
    });
    const delivered = await delivery(failed, 'delivered', 2);
    expect(delivered.attempts.map((attempt) => attempt.status)).toEqual([418, 200]);
    const [first, second] = sink.received;
    expect(second?.headers['svc-delivery-id']).toBe(first?.headers['svc-delivery-id']);
    expect({ ...second?.body, webhook_sent_at: '' }).toEqual({ ...first?.body, webhook_sent_at: '' });
  });

  it('that failed has all its attempts again', async () => {
    let status = 418;
    await using sink = await openSink((response) => response.writeHead(status).end());
    const failed = await delivery(await ended(sink.url), 'failed', 1);
    status = 500;
    await retry(failed);
    expect(await delivery(failed, 'pending', 2)).toMatchObject({ attempt: 1, error: 'The answer was 500' });
  });

  it('that waits for its next attempt is sent at once, and its attempts are counted on', async () => {
    await using sink = await openSink((response) => response.writeHead(500).end());
    const waiting = await delivery(await ended(sink.url), 'pending', 1);
    await retry(waiting);
    expect(await delivery(waiting, 'pending', 2)).toMatchObject({ attempt: 2 });
  });

  it('that was delivered is not sent again: 409', async () => {
    await using sink = await openSink();
    const delivered = await delivery(await ended(sink.url), 'delivered', 1);
    await expect(retry(delivered)).rejects.toMatchObject({ status: 409 });
    expect(sink.received).toHaveLength(1);
  });

  it('is not sent twice at once: 409 during an attempt, whose outcome counts', async () => {
    let finish = (): void => undefined;
    await using sink = await openSink((response) => (finish = () => void response.end()));
    const run = await ended(sink.url);
    await eventually(() => expect(sink.received).toHaveLength(1));
    const [underWay] = await client.runs.webhooks(run.thread_id, run.run_id);
    await expect(retry(underWay!)).rejects.toMatchObject({ status: 409 });
    finish();
    await delivery(run, 'delivered', 1);
    expect(sink.received).toHaveLength(1);
  });

  it('that does not exist, or belongs to another run, is not found', async () => {
    await using sink = await openSink((response) => response.writeHead(418).end());
    const failed = await delivery(await ended(sink.url), 'failed', 1);
    const other = await ended(sink.url);
    for (const wrong of [{ delivery_id: randomUUID() }, other, { thread_id: other.thread_id }])
      await expect(retry({ ...failed, ...wrong })).rejects.toMatchObject({ status: 404 });
    expect(await delivery(failed, 'failed', 1)).toEqual(failed);
  });
});
