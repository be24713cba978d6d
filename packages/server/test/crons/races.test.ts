// Crons that are created while their thread or assistant is deleted.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CronService } from '../../src/deployment/crons/cron-service.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { newAssistant } from '../runs/run-rows.ts';

let db: TestDatabase;
let storage: Storage;
let crons: CronService;
beforeAll(async () => {
  db = await testDatabase();
  storage = createStorage(db);
  crons = new CronService(storage, { accept: (webhook) => webhook }, { seal: () => null });
});
afterAll(() => db[Symbol.asyncDispose]());

const makeParts = async () => {
  const thread_id = randomUUID();
  const assistant_id = await newAssistant(db);
  await storage.threads.create({ thread_id, metadata: {}, config: {} });
  return { thread_id, assistant_id };
};
type Parts = Awaited<ReturnType<typeof makeParts>>;

/** Creates a cron that waits for a concurrent transaction; returns its thread, or the code of the problem. */
const createDuring = async (
  parts: Parts,
  deeds: { before?: (tx: Database) => Promise<unknown>; after?: (tx: Database) => Promise<unknown> },
): Promise<unknown> => {
  const { thread_id, assistant_id } = parts;
  const grant = { cron_id: randomUUID(), assistant: everyRow, thread: everyRow, user: undefined };
  let made: Promise<unknown> | undefined;
  await db.transact(async (tx) => {
    await deeds.before?.(tx);
    made = crons.create(thread_id, { assistant_id, schedule: '0 3 * * *' } as never, grant).then(
      (cron) => cron.thread_id,
      (error: { code?: unknown }) => error.code,
    );
    await untilOneWaits(db);
    await deeds.after?.(tx);
  });
  return made;
};

const deleteThread =
  ({ thread_id }: Parts) =>
  (tx: Database) =>
    createStorage(tx).threads.delete(thread_id, everyRow);
const deleteAssistant =
  ({ assistant_id }: Parts) =>
  (tx: Database) =>
    createStorage(tx).assistants.delete(assistant_id, everyRow);
/** Holds the creation of a cron after its thread and assistant have been checked. */
const holdCrons = (tx: Database) => tx.script('lock table crons in access exclusive mode');

describe('a cron', () => {
  it('is rejected with not_found while its thread or assistant is being deleted', async () => {
    for (const deletion of [deleteThread, deleteAssistant]) {
      const parts = await makeParts();
      expect(await createDuring(parts, { before: deletion(parts) })).toBe('not_found');
    }
  });

  it('is rejected with not_found when its thread or assistant is deleted after it was checked', async () => {
    for (const deletion of [deleteThread, deleteAssistant]) {
      const parts = await makeParts();
      expect(await createDuring(parts, { before: holdCrons, after: deletion(parts) })).toBe('not_found');
    }
  });

  it('is on the thread that another transaction deletes and creates again meanwhile', async () => {
    const parts = await makeParts();
    const { thread_id } = parts;
    const replace = async (tx: Database) => {
      await deleteThread(parts)(tx);
      await createStorage(tx).threads.create({ thread_id, metadata: {}, config: {} });
    };
    expect(await createDuring(parts, { before: replace })).toBe(thread_id);
  });
});
