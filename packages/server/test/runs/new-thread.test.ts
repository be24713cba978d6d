// Runs that want their thread made, while others make it, or delete it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assistantStorage } from '../../src/storage/assistants.ts';
import { everyRow } from '../../src/storage/row-filter.ts';
import { runStorage, type NewRun } from '../../src/storage/runs.ts';
import { threadStorage } from '../../src/storage/threads.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { lockWaiters } from '../lock-waiters.ts';

const assistant_id = randomUUID();

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  const assistant = { assistant_id, graph_id: 'agent', name: 'agent', description: null };
  await assistantStorage(db).create({ ...assistant, config: {}, context: null, metadata: {} });
});
afterAll(() => db[Symbol.asyncDispose]());

const newRun = (thread_id: string): NewRun => ({
  run_id: randomUUID(),
  thread_id,
  assistant_id,
  metadata: {},
  kwargs: '{}',
  multitask_strategy: 'enqueue',
  create_thread: true,
  claim: false,
  leaseMs: 30_000,
  delayMs: 0,
  worker_id: randomUUID(),
  log: 'nothing',
  resumable: false,
  webhook: null,
  keyed: true,
  access: everyRow,
  assistantAccess: everyRow,
  sealed_user: null,
});

describe('a run on a thread that shall be made', () => {
  it('is on the one that another deleted and made again meanwhile, with a run', async () => {
    const thread_id = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: {}, config: {} });
    let late: Promise<{ outcome: string }> | undefined;
    await db.transact(async (tx) => {
      await threadStorage(tx).delete(thread_id, everyRow);
      expect(await runStorage(tx).create(newRun(thread_id))).toMatchObject({ outcome: 'created' });
      late = runStorage(db).create(newRun(thread_id));
      await eventually(async () => expect(await lockWaiters(db)).toHaveLength(1));
    });
    expect(await late).toMatchObject({ outcome: 'created', thread_id });
    expect(await runStorage(db).listInFlight(thread_id)).toHaveLength(2);
  });

  it('is there once, however many ask for it by one name at once', async () => {
    for (let round = 0; round < 100; round++) {
      const run = newRun(randomUUID());
      const made = await Promise.all(Array.from({ length: 8 }, () => runStorage(db).create(run)));
      const outcomes = made.map(({ outcome }) => outcome).toSorted();
      expect(outcomes).toEqual(['created', ...Array.from({ length: 7 }, () => 'exists')]);
    }
  });

  it('is made, whenever others delete the thread', async () => {
    for (let round = 0; round < 100; round++) {
      const thread_id = randomUUID();
      const deeds = Array.from({ length: 12 }, (_, index) =>
        index % 3 === 2
          ? threadStorage(db).delete(thread_id, everyRow)
          : runStorage(db)
              .create(newRun(thread_id))
              .then(({ outcome }) => outcome),
      );
      for (const done of await Promise.all(deeds)) expect([true, false, 'created']).toContain(done);
    }
  });
});
