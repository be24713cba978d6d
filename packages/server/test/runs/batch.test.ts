// POST /runs/batch creates all of its runs, or none.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runIdOf } from '../../src/deployment/runs/run-request.ts';
import { lockWaiters, untilOneWaits } from '../lock-waiters.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
beforeAll(async () => {
  // One slot: if a failed batch kept it, no later run could start.
  server = await startTestServer({ settings: { executors: '1', jobsPerWorker: '1' } });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => server.database.script('truncate runs, threads cascade'));

const run = { assistant_id: 'probe', input: { do: 'sleep', ms: 1 } };
const delayed = { ...run, after_seconds: 3_600 };

const post = (batch: object[], key?: string) =>
  server.call('POST', '/runs/batch', batch, key === undefined ? {} : { 'idempotency-key': key });

const idsOf = (body: unknown): string[] => (body as { run_id: string }[]).map(({ run_id }) => run_id);

const stored = async (): Promise<string[]> => {
  const all = { name: 'all', text: 'select run_id from runs' };
  return (await server.database.query<{ run_id: string }>(all, [])).map(({ run_id }) => run_id);
};

/** The number of run streams that this node holds open. */
const openStreams = async (): Promise<string | undefined> => {
  const { body } = await server.call('GET', '/metrics');
  return /^svc_followed_runs (\d+)$/m.exec(String(body))?.[1];
};

describe('a batch with an invalid run', () => {
  it.each([
    ['an assistant that is not there', { ...delayed, assistant_id: randomUUID() }, 404, 'Run 1 of the batch'],
    [
      'a graph that is not there',
      { ...delayed, assistant_id: 'unknown' },
      404,
      'Run 1 of the batch: No assistant found',
    ],
    ['a webhook inside the network', { ...delayed, webhook: 'http://10.0.0.1/' }, 422, 'webhook'],
  ])('creates no run and keeps no slot or stream: %s', async (_, invalid, status, message) => {
    const answered = await post([run, invalid, delayed]);
    expect(answered.status).toBe(status);
    expect(JSON.stringify(answered.body)).toContain(message);
    expect(await stored()).toEqual([]);
    expect(await openStreams()).toBe('0');
    const next = await server.call('POST', '/runs/wait', run);
    expect(next).toMatchObject({ status: 200, body: { out: 'slept' } });
  });
});

describe('a batch that is sent again with its Idempotency-Key', () => {
  it('is created once', async () => {
    const key = randomUUID();
    const first = await post([delayed, delayed, delayed], key);
    const second = await post([delayed, delayed, delayed], key);
    expect(idsOf(second.body)).toEqual(idsOf(first.body));
    expect(new Set(await stored())).toEqual(new Set(idsOf(first.body)));
  });

  it('creates nothing when some of its runs have ended', async () => {
    const key = randomUUID();
    const [over, ...left] = idsOf((await post([delayed, delayed, delayed], key)).body);
    await server.database.script(`delete from runs where run_id = '${over}'`);
    const again = await post([delayed, delayed, delayed], key);
    expect(again.status).toBe(409);
    expect(JSON.stringify(again.body)).toContain('accepted before');
    expect(new Set(await stored())).toEqual(new Set(left));
  });
});

describe('a batch whose connection breaks while it is stored', () => {
  it('leaves no run behind and is stored by the next try', async () => {
    const key = randomUUID();
    const { database } = server;
    const held = runIdOf(`${key} 1`, null);
    let answer: ReturnType<typeof post> | undefined;
    await database.transact(async (tx) => {
      const hold = { name: 'hold', text: `select pg_advisory_xact_lock(hashtextextended('run ' || $1, 0))` };
      await tx.query(hold, [held]);
      answer = post([delayed, delayed, delayed], key);
      answer.catch(() => undefined); // awaited below
      await untilOneWaits(database);
      for (const { pid } of await lockWaiters(database))
        await database.query({ name: 'end', text: 'select pg_terminate_backend($1, 1000)' }, [pid]);
      expect(await stored()).toEqual([]);
      await untilOneWaits(database);
    });
    const { status, body } = await answer!;
    expect(status).toBe(200);
    expect(new Set(await stored())).toEqual(new Set(idsOf(body)));
    expect(idsOf(body)).toHaveLength(3);
  });
});
