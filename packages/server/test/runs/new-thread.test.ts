// Runs that want their thread made, while others make it, or delete it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs.ts';
import { threadStorage } from '../../src/storage/deployment/threads.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { newAssistant, newRun } from './run-rows.ts';

let db: TestDatabase;
let assistant_id: string;
beforeAll(async () => {
  db = await testDatabase();
  assistant_id = await newAssistant(db);
});
afterAll(() => db[Symbol.asyncDispose]());

describe('a run on a thread that shall be made', () => {
  it('is on the one that another deleted and made again meanwhile, with a run', async () => {
    const thread_id = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: {}, config: {} });
    let late: Promise<{ outcome: string }> | undefined;
    await db.transact(async (tx) => {
      await threadStorage(tx).delete(thread_id, everyRow);
      expect(await runStorage(tx).create(newRun(assistant_id, thread_id))).toMatchObject({
        outcome: 'created',
      });
      late = runStorage(db).create(newRun(assistant_id, thread_id));
      await untilOneWaits(db);
    });
    expect(await late).toMatchObject({ outcome: 'created', thread_id });
    expect(await runStorage(db).listInFlight(thread_id)).toHaveLength(2);
  });

  it('is there once, however many ask for it by one name at once', async () => {
    for (let round = 0; round < 100; round++) {
      const run = newRun(assistant_id, randomUUID());
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
              .create(newRun(assistant_id, thread_id))
              .then(({ outcome }) => outcome),
      );
      for (const done of await Promise.all(deeds)) expect([true, false, 'created']).toContain(done);
    }
  });
});
