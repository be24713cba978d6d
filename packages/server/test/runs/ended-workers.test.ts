// Runs of workers on the same machine whose processes have ended continue before their leases end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EndedWorkers } from '../../src/engine/dispatch/ended-workers.ts';
import { identityOf, ownProcess } from '../../src/process-identity.ts';
import { runLeaseStorage } from '../../src/storage/deployment/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs.ts';
import { workerStorage, type WorkerReport } from '../../src/storage/deployment/workers.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { QueueWorker } from './queue-worker.ts';
import { newAssistant, newRun } from './run-rows.ts';

let db: TestDatabase;
let assistant_id: string;
beforeAll(async () => {
  db = await testDatabase();
  assistant_id = await newAssistant(db);
});
afterAll(() => db?.[Symbol.asyncDispose]());

const own = ownProcess({ isLocal: true });
const otherMachine = `${randomUUID()} pid:[4026531836] other`;

/** The identity of a process that was killed. */
const killedProcess = async (): Promise<string> => {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => undefined, 1000)'], {
    stdio: 'ignore',
  });
  await once(child, 'spawn');
  const [pid, start] = identityOf(child.pid!).split(' ');
  child.kill('SIGKILL');
  await once(child, 'exit');
  return `${pid} ${start}`;
};

type Identity = Pick<WorkerReport, 'machine' | 'process'>;

const reportBusy = ({ worker_id }: QueueWorker, identity: Identity): Promise<void> =>
  workerStorage(db).report({
    worker_id,
    name: `host:${identity.process}`,
    slots: 1,
    running: 1,
    connections: 10,
    draining: false,
    graphs: [],
    ...identity,
  });

/** A worker that has claimed a run for an hour. */
const busyWorker = async (identity: Identity) => {
  const worker = new QueueWorker(db, { leaseMs: 3_600_000 });
  await reportBusy(worker, identity);
  const run = newRun(assistant_id, randomUUID());
  await runStorage(db).create({ ...run, keyed: false });
  const claimed = await worker.claim(1);
  expect(claimed.map(({ run_id }) => run_id)).toEqual([run.run_id]);
  return { worker, run: claimed[0]! };
};

/** What a dispatcher on this machine does at every poll. Returns the runs that it has recovered. */
const poll = async (machine = own.machine) => {
  const workers = workerStorage(db);
  const logger = pino({ level: 'silent' });
  await new EndedWorkers({ workers, worker_id: randomUUID(), machine, logger }).endLeases();
  return runLeaseStorage(db).recover(3);
};

describe('a run whose worker has reported its machine', () => {
  it('is recovered at once when the process of the worker was killed', async () => {
    const { worker, run } = await busyWorker({ machine: own.machine, process: await killedProcess() });
    expect(await poll()).toMatchObject([
      {
        run_id: run.run_id,
        status: 'pending',
        lost_attempts: [
          { worker: 'gone', message: expect.stringMatching(/worker host:.* has ended$/) as string },
        ],
      },
    ]);
    expect(await workerStorage(db).list(60_000, 10)).toMatchObject([
      { worker_id: worker.worker_id, state: 'left' },
    ]);
    expect(await poll()).toEqual([]);
    const next = new QueueWorker(db);
    await next.end((await next.claim(1))[0]!);
  });

  it('is recovered from a worker that reports itself again afterwards, which is live then', async () => {
    const report = { machine: own.machine, process: await killedProcess() };
    const { worker, run } = await busyWorker(report);
    expect(await poll()).toMatchObject([{ run_id: run.run_id }]);
    await reportBusy(worker, report);
    expect(await workerStorage(db).list(60_000, 1)).toMatchObject([
      { worker_id: worker.worker_id, state: 'live' },
    ]);
    await workerStorage(db).leave(worker.worker_id);
    await worker.end((await worker.claim(1))[0]!);
  });

  it('is left to a worker whose process runs', async () => {
    const { worker, run } = await busyWorker(own);
    expect(await poll()).toEqual([]);
    await worker.end(run);
  });

  it.each([
    ['on another machine', { machine: otherMachine }],
    ['on a machine that is unknown', { machine: null }],
  ])('waits for the end of its lease when its worker was %s', async (_, machine) => {
    const { worker, run } = await busyWorker({ ...machine, process: await killedProcess() });
    expect(await poll()).toEqual([]);
    expect(await poll(null)).toEqual([]);
    await worker.end(run);
  });
});
