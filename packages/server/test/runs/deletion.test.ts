// Threads and runs that are deleted while others are at work on them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { everyRow } from '../../src/storage/row-filter.ts';
import { runStorage } from '../../src/storage/runs.ts';
import { threadStorage } from '../../src/storage/threads.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { lockWaiters } from '../lock-waiters.ts';
import { newAssistant, newRun } from './run-rows.ts';

let db: TestDatabase;
let assistant_id: string;
beforeAll(async () => {
  db = await testDatabase();
  assistant_id = await newAssistant(db);
});
afterAll(() => db[Symbol.asyncDispose]());

const oneWaits = (): Promise<void> => eventually(async () => expect(await lockWaiters(db)).toHaveLength(1));

describe('a thread', () => {
  it('that becomes another user’s while it is being deleted keeps its runs', async () => {
    const thread_id = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: { owner: 'bob' }, config: {} });
    const run = newRun(assistant_id, thread_id);
    await runStorage(db).create(run);
    let deleting: Promise<boolean> | undefined;
    await db.transact(async (tx) => {
      await threadStorage(tx).patch(thread_id, { owner: 'alice' }, everyRow);
      const bobs = { jsonpath: '$.owner == "bob"', isEverything: false };
      deleting = threadStorage(db).delete(thread_id, bobs);
      await oneWaits();
    });
    expect(await deleting).toBe(false);
    expect(await runStorage(db).listInFlight(thread_id)).toEqual([run.run_id]);
  });
});
