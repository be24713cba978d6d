// One run, asked for more than once: under a client's key, or again because the first answer was lost.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage, type NewRun } from '../../src/storage/deployment/runs.ts';
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

/** What the second is answered that asks while the first has yet to commit. */
const askWhile = async (first: NewRun, second: NewRun) => {
  let late: Promise<{ outcome: string }> | undefined;
  const made = await db.transact(async (tx) => {
    const created = await runStorage(tx).create(first);
    late = runStorage(db).create(second);
    late.catch(() => undefined); // told below
    await untilOneWaits(db);
    return created;
  });
  expect(made).toMatchObject({ outcome: 'created' });
  return { made: made as { thread_id: string }, late: await late };
};

const isThere = async (thread_id: string | null): Promise<boolean> =>
  (await threadStorage(db).find(thread_id ?? '', everyRow)) !== undefined;

describe('a run without a thread', () => {
  it('is there for who asks by its key while it is being made', async () => {
    const run = newRun(assistant_id, null);
    const { made, late } = await askWhile(run, run);
    expect(late).toMatchObject({ outcome: 'exists', thread_id: made.thread_id });
  });

  it('is there for who asks again while the first try is still at work', async () => {
    const run = newRun(assistant_id, null);
    const { made, late } = await askWhile({ ...run, keyed: false }, run);
    expect(late).toMatchObject({ outcome: 'exists', thread_id: made.thread_id });
  });
});

describe('a run that makes a thread of its own', () => {
  /** Every request thinks of a thread anew. */
  const askedAgain = (run: NewRun): NewRun => ({ ...run, thread_id: randomUUID() });

  it('is there for who asks by its key while it is being made, and no other thread is made', async () => {
    const run = newRun(assistant_id, randomUUID());
    const again = askedAgain(run);
    const { late } = await askWhile(run, again);
    expect(late).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
    expect([await isThere(run.thread_id), await isThere(again.thread_id)]).toEqual([true, false]);
  });

  it('is there for who asks by its key later, and no other thread is made', async () => {
    const run = newRun(assistant_id, randomUUID());
    const again = askedAgain(run);
    await runStorage(db).create(run);
    expect(await runStorage(db).create(again)).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
    expect(await isThere(again.thread_id)).toBe(false);
  });

  it('is there for who asks again while the first try is still at work', async () => {
    const run = newRun(assistant_id, randomUUID());
    const { late } = await askWhile({ ...run, keyed: false }, run);
    expect(late).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
  });
});

describe('a run on a thread', () => {
  const bobs = { jsonpath: '$.owner == "bob"', isEverything: false };

  it('is not there for who may not see the thread, also by its key', async () => {
    const run = newRun(assistant_id, randomUUID());
    await runStorage(db).create(run);
    expect(await runStorage(db).create({ ...run, access: bobs })).toMatchObject({ outcome: 'no_thread' });
  });

  it('is not made outside of what its maker may see, also when its key is known', async () => {
    const run = newRun(assistant_id, randomUUID());
    await runStorage(db).create(run);
    const again = { ...run, thread_id: randomUUID(), access: bobs };
    expect(await runStorage(db).create(again)).toMatchObject({ outcome: 'outside' });
  });
});
