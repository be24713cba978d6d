// Runs that create their thread while others create or delete it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
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

describe('a run with a thread that it may create', () => {
  it('uses the thread that another transaction deleted and created again meanwhile', async () => {
    const thread_id = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: {}, config: {} });
    let second: Promise<{ outcome: string }> | undefined;
    await db.transact(async (tx) => {
      await threadStorage(tx).delete(thread_id, everyRow);
      expect(await runStorage(tx).create(newRun(assistant_id, thread_id))).toMatchObject({
        outcome: 'created',
      });
      second = runStorage(db).create(newRun(assistant_id, thread_id));
      await untilOneWaits(db);
    });
    expect(await second).toMatchObject({ outcome: 'created', thread_id });
    expect(await runStorage(db).listInFlight(thread_id)).toHaveLength(2);
  });

  it('is created once by concurrent requests with the same id', async () => {
    for (let round = 0; round < 100; round++) {
      const run = newRun(assistant_id, randomUUID());
      const made = await Promise.all(Array.from({ length: 8 }, () => runStorage(db).create(run)));
      const outcomes = made.map(({ outcome }) => outcome).toSorted();
      expect(outcomes).toEqual(['created', ...Array.from({ length: 7 }, () => 'exists')]);
    }
  });

  it('is created while others delete the thread', async () => {
    for (let round = 0; round < 100; round++) {
      const thread_id = randomUUID();
      const actions = Array.from({ length: 12 }, (_, index) =>
        index % 3 === 2
          ? threadStorage(db).delete(thread_id, everyRow)
          : runStorage(db)
              .create(newRun(assistant_id, thread_id))
              .then(({ outcome }) => outcome),
      );
      for (const done of await Promise.all(actions)) expect([true, false, 'created']).toContain(done);
    }
  });
});
