// Which losses are charged, when a lease has ended and when a worker releases its runs, in time or after another worker has recovered them.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noItems } from '../../src/engine/checkpoints/commit-queue.ts';
import type { Lease } from '../../src/storage/postgres/lease.ts';
import type { RunRow } from '../../src/storage/deployment/runs/run-rows.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { claimOf, newAssistant, newRun } from './run-rows.ts';

let db: TestDatabase;
let storage: Storage;
beforeEach(async () => {
  db = await testDatabase();
  storage = createStorage(db);
});
afterEach(() => db[Symbol.asyncDispose]());

const claim = async (worker_id: string = randomUUID()): Promise<RunRow> => {
  const { runs } = await storage.runLeases.claim(claimOf(1, { leaseMs: 600_000, worker_id }));
  const [run] = runs;
  if (!run) throw new Error('nothing was claimed');
  return run;
};
const leaseOf = ({ run_id, lease_token }: RunRow): Lease => ({ id: run_id, lease_token });
/** Ends the lease of the run, and lets another worker put the run back. */
const expire = async (): Promise<void> => {
  await db.script(`update runs set lease_until = now() - interval '1 second'`);
  await storage.runLeases.recover(3);
};
const stored = async () => {
  const [row] = await db.query<{ status: string; attempt: number; lost_attempts: unknown[] }>(
    { name: 'stored', text: 'select status, attempt, lost_attempts from runs' },
    [],
  );
  return row;
};

const lostRelease = { charge: false, lost: true, reason: 'the database could not be reached' };

/** A worker that has reported itself, and whose process may still execute: it was cut off or paused. */
const pausedWorker = async (): Promise<string> => {
  const worker_id = randomUUID();
  const facts = { slots: 1, running: 1, blocked_executors: 0, connections: 0, draining: false, graphs: [] };
  await storage.workers.report({ worker_id, name: 'host:7', ...facts, machine: null, process: '7 0' });
  return worker_id;
};
/** Loses an attempt of the run, because its worker is paused or has ended. Returns its lease. */
const lose = async (worker: 'paused' | 'ended'): Promise<Lease> => {
  const lost = await claim(worker === 'paused' ? await pausedWorker() : randomUUID());
  await expire();
  return leaseOf(lost);
};
const create = async () => storage.runs.create(newRun(await newAssistant(db), randomUUID()));

describe('the loss of an attempt whose worker', () => {
  it('has ended is charged, and still is when it is released later without a charge', async () => {
    await create();
    const lease = await lose('ended');
    expect(await stored()).toMatchObject({
      status: 'pending',
      attempt: 1,
      lost_attempts: [{ charged: true }],
    });
    for (let sent = 0; sent < 2; sent++) await storage.runLeases.release([lease], lostRelease);
    const message = expect.stringMatching(
      /is unknown\. It says: the database could not be reached$/,
    ) as string;
    expect(await stored()).toMatchObject({ attempt: 1, lost_attempts: [{ charged: true, message }] });
  });

  it('was paused is not charged, and gets the reason when the worker continues', async () => {
    await create();
    const lease = await lose('paused');
    expect(await stored()).toMatchObject({
      status: 'pending',
      attempt: 0,
      lost_attempts: [{ charged: false, worker: 'alive' }],
    });
    expect(await claim()).toMatchObject({ attempt: 1 });
    const how = { charge: true, lost: true, reason: 'its executor ended' };
    for (let sent = 0; sent < 2; sent++) await storage.runLeases.release([lease], how);
    const message = expect.stringMatching(/ too slow\. It says: its executor ended$/) as string;
    expect(await stored()).toMatchObject({
      status: 'running',
      attempt: 1,
      lost_attempts: [{ charged: false, message }],
    });
  });

  it('was paused does not end a run that has two charged attempts', async () => {
    await create();
    for (const worker of ['ended', 'ended', 'paused'] as const) await lose(worker);
    expect(await stored()).toMatchObject({ status: 'pending', attempt: 2 });
  });

  it('was paused is charged after five such losses without progress, so that the run ends', async () => {
    await create();
    for (let losses = 0; losses < 7; losses++) await lose('paused');
    expect(await stored()).toMatchObject({ status: 'pending', attempt: 2 });
    await lose('paused');
    const row = await stored();
    expect(row).toMatchObject({ status: 'error', attempt: 3 });
    const charges = [false, false, false, false, false, true, true, true];
    expect(row?.lost_attempts).toMatchObject(charges.map((charged) => ({ charged })));
  });

  it('was paused is not charged after progress, however many there were before', async () => {
    await create();
    for (let losses = 0; losses < 5; losses++) await lose('paused');
    const progressing = await claim(await pausedWorker());
    const owner = { owner: progressing.run_id, lease_token: progressing.lease_token, progress: true };
    expect(await storage.checkpoints.commit({ ...noItems(), owners: [owner] })).toEqual([]);
    await expire();
    for (let losses = 0; losses < 5; losses++) await lose('paused');
    expect(await stored()).toMatchObject({ status: 'pending', attempt: 0 });
  });
});

describe('a run that is released twice, because the first response was lost,', () => {
  it.each([true, false])('is put back once, with the reason once (charged: %s)', async (charge) => {
    await storage.runs.create(newRun(await newAssistant(db), randomUUID()));
    const lease = leaseOf(await claim());
    for (let sent = 0; sent < 2; sent++) {
      await storage.runLeases.release([lease], { charge, lost: true, reason: 'its executor ended' });
      expect(await stored()).toMatchObject({
        status: 'pending',
        attempt: charge ? 1 : 0,
        lost_attempts: [{ attempt: 1, charged: charge, message: 'its executor ended' }],
      });
    }
  });
});
