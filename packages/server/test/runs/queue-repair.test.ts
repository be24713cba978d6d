// The periodic repair of the queue.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runQueueStorage, type RunQueueStorage } from '../../src/storage/deployment/run-queue.ts';
import { runStorage } from '../../src/storage/deployment/runs.ts';
import { workerStorage } from '../../src/storage/deployment/workers.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { QueueWorker } from './queue-worker.ts';
import { newAssistant, newRun } from './run-rows.ts';

let db: TestDatabase;
let queue: RunQueueStorage;
let worker: QueueWorker;
let assistant_id: string;
beforeEach(async () => {
  db = await testDatabase();
  queue = runQueueStorage(db);
  worker = new QueueWorker(db);
  assistant_id = await newAssistant(db);
});
afterEach(() => db[Symbol.asyncDispose]());

const create = async (thread_id = randomUUID(), more = {}): Promise<string> => {
  const run = { ...newRun(assistant_id, thread_id), ...more };
  await runStorage(db).create(run);
  return run.run_id;
};

const claimed = async (): Promise<string[]> => (await worker.claim(10)).map(({ run_id }) => run_id);

describe('the repair of the queue', () => {
  it('lets the first run of a thread start when no run is before it', async () => {
    const thread_id = randomUUID();
    const runs = [await create(thread_id), await create(thread_id)];
    const busy = randomUUID();
    const running = await create(busy);
    await create(busy);
    await db.script(`update runs set waits_for = 'thread' where run_id = '${runs[0]}'`);
    expect(await claimed()).toEqual([running]);
    expect(await queue.repairThreads(null)).toEqual({ last: null, repaired: 1 });
    expect(await claimed()).toEqual([runs[0]]);
    expect(await queue.repairThreads(null)).toEqual({ last: null, repaired: 0 });
  });

  it('continues after the last thread that it checked', async () => {
    for (let at = 0; at < 3; at++) await create();
    await db.script(`update runs set waits_for = 'thread'`);
    const step = (after: string | null) =>
      db.query<{ last: string | null; repaired: number }>(
        { name: 'step', text: 'select last, repaired from repair_waiting_threads($1, 2)' },
        [after],
      );
    const [first] = await step(null);
    expect(first).toEqual({ last: expect.any(String) as string, repaired: 2 });
    expect(await step(first?.last ?? null)).toEqual([{ last: null, repaired: 1 }]);
  });

  it("moves runs to the queue of their assistant's current graph", async () => {
    const run_id = await create();
    await db.script(`update runs set graph_id = 'former'`);
    expect(await claimed()).toEqual([]);
    expect(await queue.readyGraphs()).toEqual(['former']);
    expect(await queue.repairGraphs('former', null)).toEqual({ last: null, repaired: 1 });
    expect(await claimed()).toEqual([run_id]);
  });
});

describe('the number of pending runs', () => {
  it('is exact up to 1,000, and is read from the last count above that', async () => {
    const many = {
      name: 'many',
      text: `select count(*) from (select create_run(p_run_id => gen_random_uuid(), p_thread_id => gen_random_uuid(),
        p_assistant_id => $1, p_metadata => '{}', p_kwargs => '{}', p_strategy => 'enqueue', p_create_thread => true,
        p_claim => false, p_lease => '0', p_delay => case when g % 2 = 0 then '1 hour' else '0' end::interval)
        from generate_series(1, $2) g) s`,
    };
    const pending = async () => (await workerStorage(db).queue(60_000)).pending;
    await db.query(many, [assistant_id, 1_000]);
    expect(await pending()).toBe(1_000);
    await db.query(many, [assistant_id, 500]);
    expect(await pending()).toBe(1_001);
    await queue.count();
    expect(await pending()).toBe(1_500);
    await db.script('delete from runs');
    expect(await pending()).toBe(0);
  });
});
