// Which lost attempts are charged to a run, and what the run reports about them.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noItems } from '../../src/engine/checkpoints/commit-queue.ts';
import { checkpointStorage } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import type { RunRow } from '../../src/storage/deployment/runs/run-rows.ts';
import { workerStorage } from '../../src/storage/deployment/workers.ts';
import { eventually } from '../eventually.ts';
import { lockWaiters } from '../lock-waiters.ts';
import { testDatabase } from '../database.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { QueueWorker } from './queue-worker.ts';
import { newAssistant, newRun } from './run-rows.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';
import { sharedFolder } from '../folders.ts';

describe('a run whose executors die', () => {
  let server: TestServer;
  let client: Client;
  const dir = sharedFolder();
  beforeAll(async () => {
    server = await startTestServer();
    client = createClient({ apiUrl: server.url });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  const run = async (deaths: number[]) => {
    const folder = await mkdtemp(join(dir, 'run-'));
    const { thread_id } = await client.threads.create();
    // With durability sync a step is stored before the next one begins, so a kill in the next step does not lose it.
    const { run_id } = await client.runs.create(thread_id, 'crashing', {
      input: { dir: folder, deaths },
      durability: 'sync',
    });
    await client.runs.join(thread_id, run_id).catch(() => undefined);
    const executions = await Promise.all(
      deaths.map(async (_, at) => (await readFile(join(folder, String(at)), 'utf8').catch(() => '')).length),
    );
    return { run: await client.runs.get(thread_id, run_id), executions };
  };

  it('succeeds when every attempt commits a step, however many attempts are lost', async () => {
    const ended = await run([1, 1, 1]);
    expect(ended.run).toMatchObject({ status: 'success', attempt: 2 });
    expect(ended.executions).toEqual([2, 2, 2]);
    // The first attempt stored nothing.
    expect(ended.run.lost_attempts?.map(({ charged }) => charged)).toEqual([true, false, false]);
  });

  it('ends after its attempts when a node kills each of them, whatever was committed before', async () => {
    const ended = await run([0, 9]);
    expect(ended.run).toMatchObject({ status: 'error', attempt: 3, error: { error: 'AttemptsExhausted' } });
    expect(ended.executions).toEqual([1, 4]);
    expect(ended.run.lost_attempts?.map(({ charged }) => charged)).toEqual([false, true, true, true]);
  });
});

describe('a run whose graph cannot reach the database', () => {
  let server: TestServer;
  let client: Client;
  beforeAll(async () => {
    server = await startTestServer();
    client = createClient({ apiUrl: server.url });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Starts a run that writes to the store, and breaks its connection in the middle of the write `breaks` times. */
  const run = async (breaks: number) => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await server.database.transact(async (tx) => {
      await tx.script('lock table store_items in exclusive mode');
      const started = await client.runs.create(thread_id, 'probe', { input: { do: 'remember' } });
      const broken = new Set<number>();
      while (broken.size < breaks)
        await eventually(async () => {
          const waiting = (await lockWaiters(server.database)).find(({ pid }) => !broken.has(pid));
          expect(waiting).toBeDefined();
          const end = { name: 'end', text: 'select pg_terminate_backend($1, 1000)' };
          await server.database.query(end, [waiting!.pid]);
          broken.add(waiting!.pid);
        });
      return started;
    });
    await client.runs.join(thread_id, run_id).catch(() => undefined);
    return client.runs.get(thread_id, run_id);
  };

  it('is executed again and not charged', async () => {
    const ended = await run(2);
    expect(ended).toMatchObject({ status: 'success', attempt: 1 });
    const loss = { charged: false, message: 'The database cannot be reached at the moment' };
    expect(ended.lost_attempts).toMatchObject([loss, loss]);
  });

  it(
    'is charged in the end when that happens in every attempt',
    async () => {
      const ended = await run(8);
      expect(ended).toMatchObject({ status: 'error', attempt: 3, error: { error: 'AttemptsExhausted' } });
      expect(ended.lost_attempts?.map(({ charged }) => charged)).toEqual([
        ...Array.from({ length: 5 }, () => false),
        ...Array.from({ length: 3 }, () => true),
      ]);
      // Most attempts start an executor of their own.
    },
    scaled(180_000),
  );
});

describe('a lost lease', () => {
  const db = fixture(() => testDatabase());
  let assistant_id: string;
  beforeAll(async () => {
    assistant_id = await newAssistant(db);
  });

  /**
   * Runs one attempt until its lease ends; with `progress` it first stores the output of a node. `seenAgo`: when the worker has reported itself.
   */
  const lose = async (
    run: { run_id: string },
    worker: QueueWorker,
    { progress = false, seenAgo }: { progress?: boolean; seenAgo?: string | undefined } = {},
  ): Promise<RunRow> => {
    const [claimed] = await worker.claim(1);
    expect(claimed?.run_id).toBe(run.run_id);
    const owner = { owner: run.run_id, lease_token: claimed!.lease_token, ...(progress ? { progress } : {}) };
    expect(await checkpointStorage(db).commit({ ...noItems(), owners: [owner] })).toEqual([]);
    // All times of a transaction are relative to its begin.
    const [recovered] = await db.transact(async (tx) => {
      await tx.query(
        { name: 'end', text: `update runs set lease_until = now() - interval '5 s' where run_id = $1` },
        [run.run_id],
      );
      if (seenAgo) await tx.script(`update workers set seen_at = now() - interval '${seenAgo}'`);
      return runLeaseStorage(tx).recover(3);
    });
    expect(recovered?.run_id).toBe(run.run_id);
    return recovered!;
  };

  const create = async () => {
    const run = newRun(assistant_id, randomUUID());
    await runStorage(db).create(run);
    return run;
  };

  it('never ends a run that makes progress in every attempt', async () => {
    const run = await create();
    const worker = new QueueWorker(db);
    for (let count = 0; count < 30; count++)
      expect(await lose(run, worker, { progress: true })).toMatchObject({ status: 'pending', attempt: 0 });
    const [claimed] = await worker.claim(1);
    expect(claimed).toMatchObject({ status: 'running', attempt: 1, lease_token: 31 });
    expect(claimed?.lost_attempts).toHaveLength(20);
    await worker.end(claimed!);
  });

  it('ends a run after three attempts without progress', async () => {
    const run = await create();
    const worker = new QueueWorker(db);
    expect(await lose(run, worker)).toMatchObject({ status: 'pending', attempt: 1 });
    expect(await lose(run, worker, { progress: true })).toMatchObject({ status: 'pending', attempt: 1 });
    expect(await lose(run, worker)).toMatchObject({ status: 'pending', attempt: 2 });
    const ended = await lose(run, worker);
    expect(ended).toMatchObject({ status: 'error', attempt: 3 });
    expect(ended.lost_attempts.map(({ charged }) => charged)).toEqual([true, false, true, true]);
    expect(JSON.parse(ended.error ?? '')).toMatchObject({
      error: 'AttemptsExhausted',
      message: expect.stringMatching(
        /after 3 attempts.*Lease 4 ended 5\.0 s ago and was not renewed/,
      ) as string,
    });
  });

  it('is recorded with what is known about the worker', async () => {
    const worker = new QueueWorker(db);
    const report = {
      worker_id: worker.worker_id,
      name: 'host:7',
      slots: 1,
      running: 1,
      blocked_executors: 0,
      connections: 0,
      draining: false,
      graphs: [],
      machine: null,
      process: '7 0',
    };
    const matching = (text: string) =>
      expect.stringMatching(`^Lease 1 ended 5\\.0 s ago and was not renewed: ${text}`) as string;
    const last = async (seenAgo?: string) => {
      const run = await create();
      if (seenAgo) await workerStorage(db).report(report);
      const { lost_attempts } = await lose(run, worker, { seenAgo });
      await worker.end((await worker.claim(1))[0]!);
      return lost_attempts.at(-1);
    };
    expect(await last()).toMatchObject({
      worker: 'gone',
      lease_token: 1,
      message: matching(`worker ${worker.worker_id} is unknown$`),
    });
    expect(await last('1 s')).toMatchObject({
      worker: 'alive',
      message: matching('worker host:7 is alive, and was too slow$'),
    });
    expect(await last('9 s')).toMatchObject({
      worker: 'silent',
      message: matching('worker host:7 last reported itself 9\\.0 s ago$'),
    });
  });

  it('is listed and not charged when the worker releases the run in time', async () => {
    const run = await create();
    const worker = new QueueWorker(db);
    const [claimed] = await worker.claim(1);
    const how = { charge: false, lost: true, reason: 'the database has not answered for 25.0 s' };
    await runLeaseStorage(db).release([{ id: run.run_id, lease_token: claimed!.lease_token }], how);
    const [again] = await worker.claim(1);
    expect(again).toMatchObject({ run_id: run.run_id, attempt: 1, lease_token: 2 });
    expect(again?.lost_attempts).toMatchObject([{ attempt: 1, charged: false, message: how.reason }]);
    await worker.end(again!);
  });
});
