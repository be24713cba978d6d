// The order in which waiting runs are claimed.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { assistantStorage } from '../../src/storage/deployment/assistants/assistants.ts';
import type { ClaimedRun } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import type { NewRun } from '../../src/storage/deployment/runs/run-rows.ts';
import { workerStorage } from '../../src/storage/deployment/workers.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { QueueWorker } from './queue-worker.ts';
import { createCopies, newAssistant, newRun } from './run-rows.ts';

let db: TestDatabase;
let assistant_id: string;
let worker: QueueWorker;
beforeEach(async () => {
  db = await testDatabase();
  assistant_id = await newAssistant(db);
  worker = new QueueWorker(db);
});
afterEach(() => db[Symbol.asyncDispose]());

const runFor = (owner: string | undefined, more: Partial<NewRun> = {}): NewRun => ({
  ...newRun(assistant_id, randomUUID()),
  metadata: owner === undefined ? {} : { svc_auth_user_id: owner },
  ...more,
});

const create = async (owner: string | undefined, more: Partial<NewRun> = {}): Promise<NewRun> => {
  const run = runFor(owner, more);
  expect(await runStorage(db).create(run)).toMatchObject({ outcome: 'created', status: 'pending' });
  return run;
};

/** Many runs of one owner, in one statement. */
const createMany = (owner: string, count: number) => createCopies(db, runFor(owner), count);

const ownersOf = (runs: ClaimedRun[]): unknown[] => runs.map(({ metadata }) => metadata['svc_auth_user_id']);

describe('slots', () => {
  it('go to another owner at once, however many runs the first owner has queued', async () => {
    await createMany('alice', 5_000);
    const running = await worker.claim(10);
    expect(new Set(ownersOf(running))).toEqual(new Set(['alice']));
    await create('bob');
    await worker.end(running[0]!);
    expect(ownersOf(await worker.claim(1))).toEqual(['bob']);
  });

  it('go first to the owner with the fewest running runs', async () => {
    await createMany('alice', 20);
    await worker.claim(6);
    await createMany('bob', 20);
    expect(ownersOf(await worker.claim(6))).toEqual(Array.from({ length: 6 }, () => 'bob'));
    const claimed = ownersOf(await worker.claim(8));
    expect(claimed.filter((owner) => owner === 'alice')).toHaveLength(4);
    expect(claimed.filter((owner) => owner === 'bob')).toHaveLength(4);
  });

  it('alternate between owners when their runs end at once', async () => {
    const owners = Array.from({ length: 40 }, (_, at) => `owner ${at}`);
    for (const owner of owners) await createMany(owner, 3);
    for (let round = 0; round < 3; round++) {
      const served: unknown[] = [];
      while (served.length < owners.length) {
        const [run] = await worker.claim(1);
        served.push(run!.metadata['svc_auth_user_id']);
        await worker.end(run!);
      }
      expect(new Set(served)).toEqual(new Set(owners));
    }
    expect(await worker.claim(1)).toEqual([]);
  });

  it('are shared between assistants, whatever the number of their owners', async () => {
    const other = await newAssistant(db);
    for (let at = 0; at < 30; at++) await create(`owner ${at}`);
    for (let at = 0; at < 30; at++) await create('bob', { assistant_id: other });
    const claimed = await worker.claim(20);
    expect(claimed.filter((run) => run.assistant_id === other)).toHaveLength(10);
    expect(new Set(ownersOf(claimed)).size).toBe(11);
  });

  it('go to the oldest run of an owner; runs without a user count as one owner', async () => {
    const runs: string[] = [];
    for (let at = 0; at < 5; at++) runs.push((await create(undefined)).run_id);
    await create('alice');
    const claimed = await worker.claim(6);
    expect(ownersOf(claimed.slice(0, 2))).toContain('alice');
    const anonymous = claimed.filter(({ metadata }) => !('svc_auth_user_id' in metadata));
    expect(anonymous.map(({ run_id }) => run_id)).toEqual(runs);
  });

  it("count the thread's user as the owner of a run without one", async () => {
    const thread_id = randomUUID();
    await db.query(
      { name: 'thread', text: 'insert into threads (thread_id, blob_space, metadata) values ($1, $1, $2)' },
      [thread_id, '{"svc_auth_user_id": "alice"}'],
    );
    await create(undefined, { thread_id });
    await create('alice');
    const [first, second] = await worker.claim(2);
    expect(first?.owner_hash).toBe(second?.owner_hash);
  });

  it('are claimed once each by concurrent workers', async () => {
    for (const owner of ['alice', 'bob', 'carol']) await createMany(owner, 60);
    const claimed: string[] = [];
    const drain = async (one: QueueWorker): Promise<void> => {
      for (;;) {
        const runs = await one.claim(3);
        claimed.push(...runs.map(({ run_id }) => run_id));
        for (const run of runs) await one.end(run);
        if (runs.length === 0) return;
      }
    };
    await Promise.all(Array.from({ length: 6 }, () => drain(new QueueWorker(db))));
    // One worker may have found every run of a queue locked by others.
    await drain(worker);
    expect(claimed).toHaveLength(180);
    expect(new Set(claimed).size).toBe(180);
  });
});

describe('a run that the request could start at once', () => {
  it('is queued when another run waits for a slot', async () => {
    expect(await runStorage(db).create(runFor('alice', { claim: true }))).toMatchObject({
      status: 'running',
    });
    const waiting = await create('alice');
    await create('alice', { claim: true });
    expect((await worker.claim(1)).map(({ run_id }) => run_id)).toEqual([waiting.run_id]);
  });

  it('starts at once when the waiting run is of a graph that is not executed here', async () => {
    await create('alice', { assistant_id: await newAssistant(db, 'elsewhere') });
    const run = runFor('alice', { claim: true, graphs: ['agent'] });
    expect(await runStorage(db).create(run)).toMatchObject({ status: 'running' });
  });
});

describe('a worker', () => {
  it('claims only runs of graphs that it executes', async () => {
    const other = await newAssistant(db, 'other');
    const own = await create('alice');
    const foreign = await create('alice', { assistant_id: other });
    expect((await worker.claim(5)).map(({ run_id }) => run_id)).toEqual([own.run_id]);
    const elsewhere = new QueueWorker(db, { graphs: ['agent', 'other'] });
    expect((await elsewhere.claim(5)).map(({ run_id }) => run_id)).toEqual([foreign.run_id]);
    expect(await new QueueWorker(db, { graphs: [] }).claim(5)).toEqual([]);
  });

  it('claims a run by the current graph of its assistant', async () => {
    const run = await create('alice');
    const other = new QueueWorker(db, { graphs: ['other'] });
    expect(await other.claim(1)).toEqual([]);
    await assistantStorage(db).update(assistant_id, { graph_id: 'other' }, everyRow);
    expect(await worker.claim(1)).toEqual([]);
    expect((await other.claim(1)).map(({ run_id }) => run_id)).toEqual([run.run_id]);
  });

  it('claims a delayed run once it is due, after the runs that were queued before', async () => {
    const later = await create('alice', { delayMs: 300 });
    expect(await worker.claim(2)).toEqual([]);
    const now = await create('alice');
    const claimed: string[] = [];
    await eventually(async () => {
      await worker.poll();
      claimed.push(...(await worker.claim(1)).map(({ run_id }) => run_id));
      expect(claimed).toEqual([now.run_id, later.run_id]);
    });
  });

  it("leaves a lost worker's run to workers that execute its graph", async () => {
    const run = await create('alice');
    const lostWorker = new QueueWorker(db, { leaseMs: 1 });
    expect(await lostWorker.claim(1)).toHaveLength(1);
    const other = new QueueWorker(db, { graphs: ['other'] });
    await eventually(async () => {
      await other.poll();
      expect(await runStorage(db).states([run.run_id])).toMatchObject([{ status: 'pending' }]);
    });
    expect(await other.claim(1)).toEqual([]);
    expect(await worker.claim(1)).toMatchObject([{ run_id: run.run_id, attempt: 2, status: 'running' }]);
  });
});

describe('a pending run', () => {
  const reason = (run: NewRun) => runStorage(db).waiting(run.run_id, 60_000);

  it('reports what it waits for', async () => {
    const thread_id = randomUUID();
    const first = await create('alice', { thread_id });
    const second = await create('alice', { thread_id });
    const third = await create('alice', { thread_id });
    const later = await create('alice', { delayMs: 60_000 });
    const free = {
      not_before: null,
      behind: null,
      awaits_answer: false,
      graph_id: 'agent',
      workers: 0,
      workers_of_graph: 0,
    };
    expect(await reason(first)).toEqual(free);
    expect(await reason(third)).toEqual({ ...free, behind: first.run_id });
    expect(await reason(later)).toMatchObject({ ...free, not_before: expect.any(String) as string });
    await worker.claim(1);
    expect(await reason(third)).toEqual({ ...free, behind: first.run_id });
    await runStorage(db).cancel(thread_id, [second.run_id], {
      action: 'interrupt',
      reason: 'test',
      access: everyRow,
    });
    expect(await reason(third)).toEqual({ ...free, behind: first.run_id });
  });

  it('reports whether any worker executes its graph', async () => {
    const run = await create('alice');
    const report = {
      worker_id: randomUUID(),
      name: 'a worker',
      slots: 10,
      running: 0,
      blocked_executors: 0,
      connections: 0,
      draining: false,
      machine: null,
      process: '7 0',
    };
    await workerStorage(db).report({ ...report, graphs: ['other'] });
    expect(await reason(run)).toMatchObject({ workers: 1, workers_of_graph: 0 });
    await workerStorage(db).report({ ...report, graphs: ['other', 'agent'] });
    expect(await reason(run)).toMatchObject({ workers: 1, workers_of_graph: 1 });
    await workerStorage(db).leave(report.worker_id);
    expect(await reason(run)).toMatchObject({ workers: 0, workers_of_graph: 0 });
  });
});
