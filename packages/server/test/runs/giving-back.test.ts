// A worker releases a run after another worker has recovered or claimed it.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Lease } from '../../src/storage/postgres/lease.ts';
import type { RunRow } from '../../src/storage/deployment/run-rows.ts';
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

const claim = async (): Promise<RunRow> => {
  const { runs } = await storage.runLeases.claim(claimOf(1, { leaseMs: 600_000 }));
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

/** A run on its second attempt, and the lease of its first attempt. */
const claimedTwice = async (): Promise<Lease> => {
  await storage.runs.create(newRun(await newAssistant(db), randomUUID()));
  const first = await claim();
  await expire();
  expect(await claim()).toMatchObject({ attempt: 2 });
  return leaseOf(first);
};

const lostRelease = { charge: false, lost: true, reason: 'the database could not be reached' };

describe('a run that is released by its earlier worker after it was recovered', () => {
  /** A run that waits for its second attempt, and the lease of its first attempt. */
  const recovered = async (): Promise<Lease> => {
    await storage.runs.create(newRun(await newAssistant(db), randomUUID()));
    const first = await claim();
    await expire();
    expect(await stored()).toMatchObject({
      status: 'pending',
      attempt: 1,
      lost_attempts: [{ charged: true }],
    });
    return leaseOf(first);
  };

  it('is not charged for an attempt that it did not make fail', async () => {
    const first = await recovered();
    const message = expect.stringMatching(
      /was not renewed.*\. It says: the database could not be reached$/,
    ) as string;
    for (let sent = 0; sent < 2; sent++) {
      await storage.runLeases.release([first], lostRelease);
      const lost_attempts = [{ attempt: 1, charged: false, message }];
      expect(await stored()).toMatchObject({ status: 'pending', attempt: 0, lost_attempts });
    }
    expect(await claim()).toMatchObject({ attempt: 1 });
  });

  it('is charged when the attempt ended its executor', async () => {
    const first = await recovered();
    await storage.runLeases.release([first], { charge: true, lost: true, reason: 'its executor ended' });
    expect(await stored()).toMatchObject({
      status: 'pending',
      attempt: 1,
      lost_attempts: [{ charged: true }],
    });
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

describe('a run that is released by its earlier worker after it was claimed again', () => {
  it('is not charged for an attempt that it did not make fail', async () => {
    const first = await claimedTwice();
    await storage.runLeases.release([first], lostRelease);
    expect(await stored()).toMatchObject({
      status: 'running',
      attempt: 1,
      lost_attempts: [{ charged: false }],
    });
    // The release that is tested.
    await storage.runLeases.release([first], lostRelease);
    expect(await stored()).toMatchObject({ attempt: 1 });
  });

  it('is charged when the attempt ended its executor', async () => {
    const first = await claimedTwice();
    await storage.runLeases.release([first], { charge: true, lost: true, reason: 'its executor ended' });
    expect(await stored()).toMatchObject({
      status: 'running',
      attempt: 2,
      lost_attempts: [{ attempt: 1, charged: true }],
    });
  });

  it('keeps the charges of later attempts', async () => {
    const first = await claimedTwice();
    await expire();
    await claim();
    await storage.runLeases.release([first], lostRelease);
    const lost_attempts = [
      { attempt: 1, charged: false },
      { attempt: 2, charged: true },
    ];
    expect(await stored()).toMatchObject({ attempt: 2, lost_attempts });
  });
});
