// Periodic tasks of the queue: the repair of the queues of graphs, and the count of pending runs.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assistantStorage } from '../../src/storage/deployment/assistants/assistants.ts';
import { runQueueStorage, type RunQueueStorage } from '../../src/storage/deployment/runs/run-queue.ts';
import { openDatabase } from '../../src/storage/postgres/database.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { workerStorage } from '../../src/storage/deployment/workers.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { QueueWorker } from './queue-worker.ts';
import { createCopies, newAssistant, newRun } from './run-rows.ts';

let db: TestDatabase;
let queue: RunQueueStorage;
let assistant_id: string;
beforeEach(async () => {
  db = await testDatabase();
  queue = runQueueStorage(db);
  assistant_id = await newAssistant(db);
});
afterEach(() => db[Symbol.asyncDispose]());

describe('the repair of the queue', () => {
  it('moves a delayed run that was queued while the graph of its assistant changed', async () => {
    await using other = await openDatabase(db.options);
    await runStorage(db).create({ ...newRun(assistant_id, randomUUID()), delayMs: 60_000 });
    await db.script('update runs set not_before = now()');
    await db.transact(async (tx) => {
      await runQueueStorage(tx).promote();
      await assistantStorage(other).update(assistant_id, { graph_id: 'other' }, everyRow);
    });
    const worker = new QueueWorker(db, { graphs: ['other'] });
    expect(await worker.claim()).toEqual([]);
    expect(await queue.readyGraphs()).toEqual(['agent']);
    expect(await queue.repairGraphs('agent', null)).toEqual({ last: null, repaired: 1 });
    expect(await worker.claim()).toMatchObject([{ status: 'running' }]);
  });
});

describe('the number of pending runs', () => {
  it('is exact up to 1,000, and is read from the last count above that', async () => {
    const run = newRun(assistant_id, null);
    const create = async (count: number) => {
      await createCopies(db, run, count / 2);
      await createCopies(db, { ...run, delayMs: 3_600_000 }, count / 2);
    };
    const pending = async () => (await workerStorage(db).queue(60_000)).pending;
    await create(1_000);
    expect(await pending()).toBe(1_000);
    await create(500);
    expect(await pending()).toBe(1_001);
    await queue.count();
    expect(await pending()).toBe(1_500);
    await db.script('delete from runs');
    expect(await pending()).toBe(0);
  });
});
