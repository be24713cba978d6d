// Cancelling runs: a cancelled run stops, and writes nothing after the cancel is acknowledged.
import { randomUUID } from 'node:crypto';
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { eventually } from '../eventually.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { cancelAtTheEnd } from './cancel-at-end.ts';
import { heldRun } from './held-run.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer());
const client = fixture(() => createClient({ apiUrl: server.url }));

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
const start = async (thread_id: string, action: string, ms = 60_000, options = {}) =>
  client.runs.create(thread_id, 'probe', { input: { do: action, ms }, ...options });
const cancel = (thread_id: string, run_id: string, query = 'wait=1') =>
  server.call('POST', `/threads/${thread_id}/runs/${run_id}/cancel?${query}`);
const statusOf = async (thread_id: string, run_id: string): Promise<number> =>
  (await server.call('GET', `/threads/${thread_id}/runs/${run_id}`)).status;

describe('a running run', () => {
  it('gets the abort signal in its nodes and ends as interrupted', async () => {
    const { thread_id } = await client.threads.create();
    let runId = '';
    const stream = client.runs.stream(
      thread_id,
      'probe',
      { input: { do: 'waitForAbort' }, stream_mode: 'custom' },
      { onRunCreated: (run) => (runId = run.runId) },
    );
    for await (const { event } of stream) {
      if (event !== 'custom') continue;
      const { status } = await server.call('POST', `/threads/${thread_id}/runs/${runId}/cancel?wait=1`);
      expect(status).toBe(204);
    }
    expect(await client.runs.get(thread_id, runId)).toMatchObject({ status: 'interrupted' });
    const reasons = await client.runs.wait(null, 'probe', { input: { do: 'abortReasons' } });
    expect(reasons).toMatchObject({ out: [expect.stringContaining('cancelled')] });
  });

  it('writes no checkpoint after the cancel is acknowledged, and its thread accepts new runs', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'probe', { input: { do: 'sleep', ms: 1 } });
    const { run_id } = await start(thread_id, 'sleep', 2_000);
    await cancel(thread_id, run_id);
    const before = await client.threads.getHistory(thread_id, { limit: 100 });
    expect(await client.runs.wait(thread_id, 'probe', { input: { do: 'sleep', ms: 1 } })).toMatchObject({
      out: 'slept',
    });
    const after = await client.threads.getHistory(thread_id, { limit: 100 });
    const made = after.slice(0, after.length - before.length);
    expect(made.every(({ metadata }) => metadata?.['run_id'] !== run_id)).toBe(true);
  });

  it('that is rolled back leaves the thread as it was', async () => {
    const thread_id = await newThread();
    await client.runs.wait(thread_id, 'approval', { input: { log: [] } });
    const before = await client.threads.get(thread_id);
    const history = await client.threads.getHistory(thread_id, { limit: 100 });
    expect(before.status).toBe('interrupted');
    const { run_id } = await start(thread_id, 'waitForAbort');
    expect((await cancel(thread_id, run_id, 'wait=1&action=rollback')).status).toBe(204);
    expect(await statusOf(thread_id, run_id)).toBe(404);
    const after = await client.threads.get(thread_id);
    expect([after.status, after.values, after.interrupts]).toEqual([
      before.status,
      before.values,
      before.interrupts,
    ]);
    expect(await client.threads.getHistory(thread_id, { limit: 100 })).toEqual(history);
  });
});

describe('a pending run', () => {
  it('ends at once and never starts', async () => {
    const thread_id = await newThread();
    const { run_id } = await start(thread_id, 'sleep', 1, { after_seconds: 3_600 });
    expect((await cancel(thread_id, run_id, '')).status).toBe(202);
    expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'interrupted', attempt: 0 });
    expect((await client.threads.get(thread_id)).status).toBe('idle');
  });

  it('leaves its thread busy while another run executes there', async () => {
    const thread_id = await newThread();
    using held = heldRun();
    const first = await client.runs.create(thread_id, 'probe', { input: held.input });
    const second = await start(thread_id, 'sleep', 1);
    await cancel(thread_id, second.run_id);
    expect((await client.threads.get(thread_id)).status).toBe('busy');
    held.release();
    await client.runs.join(thread_id, first.run_id);
    expect((await client.threads.get(thread_id)).status).toBe('idle');
  });

  it('reports what it waits for', async () => {
    const thread_id = await newThread();
    const first = await start(thread_id, 'waitForAbort');
    const second = await start(thread_id, 'sleep', 1);
    const third = await start(await newThread(), 'sleep', 1, { after_seconds: 3_600 });
    expect(await client.runs.get(thread_id, second.run_id)).toMatchObject({
      waiting_for: { reason: 'thread', run_id: first.run_id },
    });
    expect(await client.runs.get(third.thread_id, third.run_id)).toMatchObject({
      waiting_for: { reason: 'time', until: expect.any(String) as string },
    });
    await cancel(thread_id, first.run_id);
    await client.runs.join(thread_id, second.run_id);
  });
});

describe('cancelling', () => {
  it('an ended run, an unknown run or a run of another thread returns 404', async () => {
    const [one, two] = [await newThread(), await newThread()];
    const over = await start(one, 'sleep', 1);
    await client.runs.join(one, over.run_id);
    expect((await cancel(one, over.run_id)).status).toBe(404);
    expect((await cancel(one, randomUUID())).status).toBe(404);
    const other = await start(two, 'waitForAbort');
    expect((await cancel(one, other.run_id)).status).toBe(404);
    expect(await client.runs.get(two, other.run_id)).toMatchObject({ status: 'running' });
    await cancel(two, other.run_id);
  });

  it('several runs returns an outcome for each and cancels those that exist', async () => {
    const thread_id = await newThread();
    const over = await start(thread_id, 'sleep', 1);
    await client.runs.join(thread_id, over.run_id);
    const [first, second] = [await start(thread_id, 'waitForAbort'), await start(thread_id, 'sleep', 1)];
    const foreign = await start(await newThread(), 'waitForAbort');
    const unknown = randomUUID();
    const run_ids = [first, second, over, foreign].map(({ run_id }) => run_id);
    const { status, body } = await server.call('POST', '/runs/cancel', {
      thread_id,
      run_ids: [...run_ids, unknown, unknown],
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      runs: [
        { run_id: first.run_id, outcome: 'stopping' },
        { run_id: second.run_id, outcome: 'cancelled' },
        { run_id: over.run_id, outcome: 'over' },
        { run_id: foreign.run_id, outcome: 'not_found' },
        { run_id: unknown, outcome: 'not_found' },
      ],
    });
    await eventually(async () =>
      expect((await client.runs.list(thread_id)).map((run) => run.status)).toEqual([
        'interrupted',
        'interrupted',
        'success',
      ]),
    );
    expect(await client.runs.get(foreign.thread_id, foreign.run_id)).toMatchObject({ status: 'running' });
    await cancel(foreign.thread_id, foreign.run_id);
  });

  it('several runs of which none is in flight returns 404 with a reason for each', async () => {
    const thread_id = await newThread();
    const over = await start(thread_id, 'sleep', 1);
    await client.runs.join(thread_id, over.run_id);
    const run_ids = [over.run_id, randomUUID()];
    const { status, body } = await server.call('POST', '/runs/cancel', { thread_id, run_ids });
    expect(status).toBe(404);
    expect(body).toMatchObject({
      code: 'not_found',
      detail: [
        { loc: ['body', 'run_ids', 0], msg: `Run ${over.run_id} has ended`, type: 'over' },
        {
          loc: ['body', 'run_ids', 1],
          msg: `Run ${run_ids[1]} was not found on this thread`,
          type: 'not_found',
        },
      ],
    });
  });

  it('several runs works with the stock client', async () => {
    const thread_id = await newThread();
    const run = await start(thread_id, 'waitForAbort');
    await client.runs.cancelMany({ threadId: thread_id, runIds: [run.run_id, randomUUID()] });
    await eventually(async () =>
      expect(await client.runs.get(thread_id, run.run_id)).toMatchObject({ status: 'interrupted' }),
    );
  });

  it('by status cancels matching runs of all threads', async () => {
    const threads = [await newThread(), await newThread()];
    for (const thread_id of threads) await start(thread_id, 'sleep', 1, { after_seconds: 3_600 });
    expect((await server.call('POST', '/runs/cancel', { status: 'pending' })).status).toBe(204);
    for (const thread_id of threads) {
      expect(await client.runs.list(thread_id)).toMatchObject([{ status: 'interrupted' }]);
    }
    expect((await server.call('POST', '/runs/cancel', { status: 'pending' })).status).toBe(404);
    expect((await server.call('POST', '/runs/cancel', { thread_id: threads[0] })).status).toBe(422);
  });

  it('by status cancels the other runs of a thread while one of them is being cancelled', async () => {
    const thread_id = await newThread();
    const going = await start(thread_id, 'sleep', 1, { after_seconds: 3_600 });
    const other = await start(thread_id, 'sleep', 1, { after_seconds: 3_600 });
    let cancelled: ReturnType<TestServer['call']> | undefined;
    await server.database.transact(async (tx) => {
      const how = { action: 'rollback', reason: 'rolled back', access: everyRow } as const;
      await runStorage(tx).cancel(thread_id, [going.run_id], how);
      cancelled = server.call('POST', '/runs/cancel', { status: 'pending' });
      await untilOneWaits(server.database);
    });
    expect((await cancelled)?.status).toBe(204);
    expect(await client.runs.list(thread_id)).toMatchObject([
      { run_id: other.run_id, status: 'interrupted' },
    ]);
  });

  it('at the moment a run ends yields either result, never a mixture', () => cancelAtTheEnd(server, 10));
});

describe('the reason of a cancel', () => {
  const reasonOf = async (thread_id: string, run_id: string): Promise<unknown> =>
    (await client.runs.get(thread_id, run_id)).cancel_reason;

  it('is recorded in the run', async () => {
    const thread_id = await newThread();
    const running = await start(thread_id, 'waitForAbort');
    const pending = await start(thread_id, 'waitForAbort');
    await cancel(thread_id, pending.run_id);
    await cancel(thread_id, running.run_id, 'wait=1&reason=taken');
    expect(await reasonOf(thread_id, pending.run_id)).toBe('cancelled by request');
    expect(await reasonOf(thread_id, running.run_id)).toBe('taken: another run has absorbed the input');
  });

  it('names the run that has superseded it', async () => {
    const thread_id = await newThread();
    const first = await start(thread_id, 'waitForAbort');
    const second = await start(thread_id, 'sleep', 1, { multitask_strategy: 'interrupt' });
    await client.runs.join(thread_id, second.run_id);
    expect(await reasonOf(thread_id, first.run_id)).toBe(`superseded by run ${second.run_id}`);
    expect(await reasonOf(thread_id, second.run_id)).toBeUndefined();
  });

  it('cannot be combined with a rollback', async () => {
    const thread_id = await newThread();
    const { run_id } = await start(thread_id, 'sleep', 1);
    const { status } = await cancel(thread_id, run_id, 'action=rollback&reason=taken');
    expect(status).toBe(422);
  });
});
