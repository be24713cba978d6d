// One run, requested more than once: with a client's key, or again because the first response was lost.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import type { NewRun } from '../../src/storage/deployment/runs/run-rows.ts';
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

/** Creates `other` while the transaction that creates `first` is open; returns both results. */
const createWhile = async (first: NewRun, other: NewRun) => {
  let second: Promise<{ outcome: string }> | undefined;
  const made = await db.transact(async (tx) => {
    const created = await runStorage(tx).create(first);
    second = runStorage(db).create(other);
    second.catch(() => undefined); // awaited below
    await untilOneWaits(db);
    return created;
  });
  expect(made).toMatchObject({ outcome: 'created' });
  return { made: made as { thread_id: string }, second: await second };
};

const threadExists = async (thread_id: string | null): Promise<boolean> =>
  (await threadStorage(db).find(thread_id ?? '', everyRow)) !== undefined;

describe('a stateless run', () => {
  it('is found by a request with its key while it is being created', async () => {
    const run = newRun(assistant_id, null);
    const { made, second } = await createWhile(run, run);
    expect(second).toMatchObject({ outcome: 'exists', thread_id: made.thread_id });
  });

  it('is found by a retry while the first try is still in its transaction', async () => {
    const run = newRun(assistant_id, null);
    const { made, second } = await createWhile({ ...run, keyed: false }, run);
    expect(second).toMatchObject({ outcome: 'exists', thread_id: made.thread_id });
  });
});

describe('a run that creates its thread', () => {
  /** The same request with a new thread id, as every try generates one. */
  const requestedAgain = (run: NewRun): NewRun => ({ ...run, thread_id: randomUUID() });

  it('is found by a request with its key while it is being created, and no second thread is created', async () => {
    const run = newRun(assistant_id, randomUUID());
    const again = requestedAgain(run);
    const { second } = await createWhile(run, again);
    expect(second).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
    expect([await threadExists(run.thread_id), await threadExists(again.thread_id)]).toEqual([true, false]);
  });

  it('is found by a later request with its key, and no second thread is created', async () => {
    const run = newRun(assistant_id, randomUUID());
    const again = requestedAgain(run);
    await runStorage(db).create(run);
    expect(await runStorage(db).create(again)).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
    expect(await threadExists(again.thread_id)).toBe(false);
  });

  it('is found by a retry while the first try is still in its transaction', async () => {
    const run = newRun(assistant_id, randomUUID());
    const { second } = await createWhile({ ...run, keyed: false }, run);
    expect(second).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
  });
});

describe('a run on a thread', () => {
  const bobOnly = { jsonpath: '$.owner == "bob"', isEverything: false };

  it('is not found by a caller that may not read its thread, even with its key', async () => {
    const run = newRun(assistant_id, randomUUID());
    await runStorage(db).create(run);
    expect(await runStorage(db).create({ ...run, access: bobOnly })).toMatchObject({ outcome: 'no_thread' });
  });

  it('is not created outside of what its caller may access, even with a known key', async () => {
    const run = newRun(assistant_id, randomUUID());
    await runStorage(db).create(run);
    const again = { ...run, thread_id: randomUUID(), access: bobOnly };
    expect(await runStorage(db).create(again)).toMatchObject({ outcome: 'outside' });
  });
});
