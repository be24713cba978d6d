// Runs of dead workers on the same machine continue before their leases end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { endLeases } from '../../src/engine/dispatch/dead-workers.ts';
import { identityOf, ownIdentity } from '../../src/config/process-identity.ts';
import { type ClaimedRun, runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { workerStorage, type WorkerReport } from '../../src/storage/deployment/workers.ts';
import { testDatabase } from '../database.ts';
import { QueueWorker } from './queue-worker.ts';
import { newAssistant, newRun } from './run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
let assistant_id: string;
beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

const own = ownIdentity({ isLocal: true });
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
    blocked_executors: 0,
    connections: 10,
    draining: false,
    graphs: [],
    ...identity,
  });

const claimNew = async (worker: QueueWorker): Promise<ClaimedRun> => {
  const run = newRun(assistant_id, randomUUID());
  await runStorage(db).create({ ...run, keyed: false });
  const claimed = await worker.claim(1);
  expect(claimed.map(({ run_id }) => run_id)).toEqual([run.run_id]);
  return claimed[0]!;
};

/** Stores the report of a new worker. Its leases last an hour. */
const reportedWorker = async (identity: Identity): Promise<QueueWorker> => {
  const worker = new QueueWorker(db, { leaseMs: 3_600_000 });
  await reportBusy(worker, identity);
  return worker;
};

const busyWorker = async (identity: Identity) => {
  const worker = await reportedWorker(identity);
  return { worker, run: await claimNew(worker) };
};

/** What the workers of this machine do at every poll. Returns the runs that they have recovered. */
const poll = async () => {
  await endLeases({ workers: workerStorage(db), worker_id: randomUUID(), machine: own.machine! });
  return runLeaseStorage(db).recover(3);
};

describe('a run of a worker that has reported its machine', () => {
  it('is recovered at once when the process of the worker was killed', async () => {
    const { worker, run } = await busyWorker({ machine: own.machine, process: await killedProcess() });
    expect(await poll()).toMatchObject([
      {
        run_id: run.run_id,
        status: 'pending',
        lost_attempts: [
          {
            worker: 'gone',
            message: expect.stringMatching(/^The process of worker host:.* ended/) as string,
          },
        ],
      },
    ]);
    expect(await workerStorage(db).list(60_000, 10)).toMatchObject([
      { worker_id: worker.worker_id, state: 'silent' },
    ]);
    expect(await poll()).toEqual([]);
    const next = new QueueWorker(db);
    await next.end((await next.claim(1))[0]!);
  });

  it('waits for the end of its lease when an earlier attempt was charged', async () => {
    const { run } = await busyWorker({ machine: own.machine, process: await killedProcess() });
    expect(await poll()).toMatchObject([{ run_id: run.run_id }]);
    const second = await reportedWorker({ machine: own.machine, process: await killedProcess() });
    const [again] = await second.claim(1);
    expect(again).toMatchObject({ run_id: run.run_id, attempt: 2 });
    expect(await poll()).toEqual([]);
    await second.end(again!);
  });

  it('is recovered when its worker was killed after it had reported its end', async () => {
    const { worker, run } = await busyWorker({ machine: own.machine, process: await killedProcess() });
    await workerStorage(db).leave(worker.worker_id);
    expect(await poll()).toMatchObject([{ run_id: run.run_id }]);
    await worker.end((await worker.claim(1))[0]!);
  });

  it('keeps its lease when its worker has reported itself after its end was recorded', async () => {
    const identity = { machine: own.machine, process: await killedProcess() };
    const { worker, run } = await busyWorker(identity);
    expect(await poll()).toMatchObject([{ run_id: run.run_id }]);
    await worker.end((await worker.claim(1))[0]!);
    await reportBusy(worker, identity);
    expect(await workerStorage(db).list(60_000, 1)).toMatchObject([
      { worker_id: worker.worker_id, state: 'live' },
    ]);
    const later = await claimNew(worker);
    expect(await poll()).toEqual([]);
    await worker.end(later);
  });

  it('keeps its lease while the process of its worker runs', async () => {
    const { worker, run } = await busyWorker(own);
    expect(await poll()).toEqual([]);
    await worker.end(run);
  });

  it.each([
    ['on another machine', { machine: otherMachine }],
    ['on a machine that is unknown', { machine: null }],
  ])('waits for the end of its lease when its worker was %s', async (_, identity) => {
    const { worker, run } = await busyWorker({ ...identity, process: await killedProcess() });
    expect(await poll()).toEqual([]);
    await worker.end(run);
  });
});
