// Attempts, their errors and delays, timeouts, and partition runs of lost workers: in the database.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ClaimedPartitionRun,
  exportLeaseStorage,
  type ExportLeaseStorage,
} from '../../src/storage/exports/export-leases.ts';
import { exportStepStorage, type ExportStepStorage } from '../../src/storage/exports/export-steps.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventsOf, newExport, newPlace, type Place, runsOf, sql, statusOf } from './export-tables.ts';

let db: TestDatabase;
let leases: ExportLeaseStorage & ExportStepStorage;
let place: Place;
beforeAll(async () => {
  db = await testDatabase();
  leases = { ...exportLeaseStorage(db), ...exportStepStorage(db) };
  place = await newPlace(db);
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => void (await sql(db, 'delete from exports')));

/** The default settings. */
const rules = { retries: 20, delayMs: 30_000 };
const times = { timeoutMs: 72 * 3_600_000, runTimeoutMs: 4 * 3_600_000 };
const claim = async (): Promise<ClaimedPartitionRun | undefined> =>
  (await leases.claimPartitionRuns(1, 60_000, { runsPerExport: 45, exportsPerWorkspace: 15 })).claimed[0];
const due = (): Promise<unknown> =>
  sql(db, `update export_runs set not_before = now() where status = 'CREATED'`);

const file = {
  rows: 1,
  bytes: 2,
  raw_bytes: 3,
  sha256: 'x',
  min_start_time: '2026-03-01',
  max_start_time: '2026-03-01',
};

describe('an export partition run that fails', () => {
  it('has twenty-one attempts, thirty seconds apart, each with its error, and then fails its export', async () => {
    const id = await newExport(db, place, { days: 2 });
    for (let attempt = 0; attempt <= 20; attempt++) {
      const claimed = await claim();
      expect(claimed?.retry_number).toBe(attempt);
      const status = await leases.fail(claimed!.lease, { cause: 'error', message: `no ${attempt}` }, rules);
      expect(status).toBe(attempt < 20 ? 'CREATED' : 'FAILED');
      const [pause] = await sql<{ seconds: number }>(
        db,
        `select extract(epoch from r.not_before - r.updated_at)::float8 as seconds from export_runs r where id = $1`,
        [claimed!.lease.id],
      );
      if (attempt < 20) {
        expect(pause?.seconds).toBeGreaterThanOrEqual(30);
        // Not before it is due; the other partition run is not tried here.
        await sql(db, `update export_runs set not_before = now() + interval '1 h' where id <> $1`, [
          claimed!.lease.id,
        ]);
        expect(await claim()).toBeUndefined();
        await sql(db, 'update export_runs set not_before = now() where id = $1', [claimed!.lease.id]);
      }
    }
    const runs = await runsOf(db, id);
    const failed = runs.find(({ status }) => status === 'FAILED');
    expect(failed?.errors).toEqual(
      Object.fromEntries(Array.from({ length: 21 }, (_, attempt) => [`retry_${attempt}`, `no ${attempt}`])),
    );
    expect(runs.map(({ status }) => status).toSorted()).toEqual(['CANCELLED', 'FAILED']);
    expect(await statusOf(db, id)).toBe('FAILED');
    const [row] = await sql<{ error: string }>(db, 'select error from exports');
    expect(row?.error).toMatch(/^The export run of 2026-03-0\dT00:00:00Z to .* failed: no 20$/);
    expect(await claim()).toBeUndefined();
  });

  it('is not retried when the destination rejects it, and stops the others', async () => {
    const id = await newExport(db, place, { days: 3 });
    const [first, second] = [await claim(), await claim()];
    await leases.fail(first!.lease, { cause: 'destination', message: 'AccessDenied' }, rules);
    const runs = await runsOf(db, id);
    const why = { retry_0: expect.stringMatching(/^The export run of .* failed: AccessDenied$/) as string };
    expect(runs.map(({ status, errors }) => ({ status, errors }))).toEqual([
      { status: 'FAILED', errors: { retry_0: 'AccessDenied' } },
      { status: 'CANCELLED', errors: why },
      { status: 'CANCELLED', errors: why },
    ]);
    expect(await leases.renew([second!.lease], 60_000)).toEqual(new Set());
    expect(await statusOf(db, id)).toBe('FAILED');
    expect((await eventsOf(db, id)).slice(-2)).toEqual(['run_failed', 'failed']);
  });

  it('continues from its cursor', async () => {
    await newExport(db, place);
    const first = await claim();
    await leases.beginFile(first!.lease, { ...file, key: 'a', target_cursor: 'A' });
    await leases.commitFile(first!.lease, 'a');
    await leases.beginFile(first!.lease, { ...file, key: 'b', target_cursor: 'B' });
    await leases.fail(first!.lease, { cause: 'error', message: 'no' }, rules);
    await due();
    const second = await claim();
    expect(second).toMatchObject({ cursor: 'A', files: 1, pending_upload: { key: 'b', target_cursor: 'B' } });
    // A started file is finished before anything else.
    expect(await leases.beginFile(second!.lease, { ...file, key: 'b', target_cursor: 'C' })).toBe(false);
    expect(await leases.beginFile(second!.lease, { ...file, key: 'b', target_cursor: 'B' })).toBe(true);
  });
});

it('a worker may report a skipped file twice under its lease, and only the file that was started', async () => {
  await newExport(db, place);
  const { lease } = (await claim())!;
  await leases.beginFile(lease, { ...file, key: 'a', target_cursor: 'A' });
  expect(await leases.skipFile(lease, 'B')).toBe(false);
  expect(await leases.skipFile(lease, 'A')).toBe(true);
  expect(await leases.skipFile(lease, 'A')).toBe(true);
  await leases.beginFile(lease, { ...file, key: 'b', target_cursor: 'B' });
  expect(await leases.skipFile(lease, 'A')).toBe(false);
  await leases.requeue(lease, 'no', rules);
  expect(await leases.skipFile(lease, 'B')).toBe(false);
  expect(await claim()).toMatchObject({ cursor: 'A', files: 0, pending_upload: { target_cursor: 'B' } });
});

describe('an attempt that exceeds its time limit', () => {
  const exceedTimeLimit = () =>
    sql(db, `update export_runs set attempt_at = now() - interval '4 h' where status = 'RUNNING'`);

  it('is retried', async () => {
    const id = await newExport(db, place);
    const claimed = await claim();
    expect(await leases.sweep(times, rules)).toBe(0);
    await exceedTimeLimit();
    expect(await leases.sweep(times, rules)).toBe(1);
    const [run] = await runsOf(db, id);
    expect(run).toMatchObject({ status: 'CREATED', retry_number: 1 });
    expect(run?.errors['retry_0']).toMatch(/exceeded its time limit/);
    expect(await leases.renew([claimed!.lease], 60_000)).toEqual(new Set());
  });

  it('and was the last one leaves its partition run timed out and its export failed', async () => {
    const id = await newExport(db, place);
    await claim();
    await exceedTimeLimit();
    await leases.sweep(times, { retries: 0, delayMs: 0 });
    expect((await runsOf(db, id))[0]?.status).toBe('TIMEDOUT');
    expect(await statusOf(db, id)).toBe('FAILED');
  });

  it('together with its export is timed out with it and not retried', async () => {
    const id = await newExport(db, place, { days: 2 });
    await claim();
    await sql(
      db,
      `update exports set created_at = now() - interval '100 h', started_at = now() - interval '71 h'`,
    );
    expect(await leases.sweep(times, rules)).toBe(0);
    await sql(db, `update exports set started_at = now() - interval '72 h'`);
    expect(await leases.sweep(times, rules)).toBe(1);
    expect((await runsOf(db, id)).map(({ status }) => status)).toEqual(['TIMEDOUT', 'TIMEDOUT']);
    expect(await statusOf(db, id)).toBe('TIMEDOUT');
    expect(await claim()).toBeUndefined();
    expect((await eventsOf(db, id)).at(-1)).toBe('timed_out');
    const errors = { retry_0: 'The export exceeded its time limit (SVC_EXPORT_TIMEOUT is 259200 seconds)' };
    expect((await runsOf(db, id)).map((run) => run.errors)).toEqual([errors, errors]);
    const [row] = await sql(db, 'select error from exports where id = $1', [id]);
    expect(row).toEqual({ error: errors.retry_0 });
  });

  it('is measured from the start of its exporter, not from the claim', async () => {
    const id = await newExport(db, place);
    const { lease } = (await claim())!;
    const passes = (time: string) =>
      sql(
        db,
        `update export_runs set attempt_at = attempt_at - $1::interval, claimed_at = claimed_at - $1::interval`,
        [time],
      );
    await passes('4 h');
    expect(await leases.sweep(times, rules)).toBe(0);
    expect(await leases.startPartitionRun(lease)).toBe(true);
    await passes('3 h 59 min');
    // A repeated report changes nothing.
    expect(await leases.startPartitionRun(lease)).toBe(true);
    expect(await leases.sweep(times, rules)).toBe(0);
    await passes('1 min');
    expect(await leases.sweep(times, rules)).toBe(1);
    expect((await runsOf(db, id))[0]).toMatchObject({ status: 'CREATED', retry_number: 1 });
    expect(await leases.startPartitionRun(lease)).toBe(false);
  });

  it('is also retried when its exporter never starts', async () => {
    const id = await newExport(db, place);
    await claim();
    await sql(db, `update export_runs set claimed_at = now() - interval '4 h 5 min'`);
    expect(await leases.sweep(times, rules)).toBe(1);
    expect((await runsOf(db, id))[0]).toMatchObject({ status: 'CREATED', retry_number: 1 });
  });

  it('does not include the time in the queue', async () => {
    const id = await newExport(db, place);
    await sql(db, `update exports set created_at = now() - interval '100 h'`);
    expect(await leases.sweep(times, rules)).toBe(0);
    expect(await claim()).toBeDefined();
    expect(await leases.sweep(times, rules)).toBe(0);
    expect(await statusOf(db, id)).toBe('RUNNING');
  });
});

describe('an export partition run of a lost worker', () => {
  const lose = () =>
    sql(db, `update export_runs set lease_until = now() - interval '1 ms' where status = 'RUNNING'`);

  it('goes back with the retries that it has, until it is lost five times in a row without a file', async () => {
    const id = await newExport(db, place);
    for (let time = 1; time <= 5; time++) {
      expect(await claim()).toMatchObject({ retry_number: 0 });
      await lose();
      expect(await leases.sweep(times, rules)).toBe(1);
      const [run] = await runsOf(db, id);
      expect(run).toMatchObject(
        time < 5 ? { retry_number: 0, reclaims: time, errors: {} } : { retry_number: 1, reclaims: 0 },
      );
    }
    expect((await runsOf(db, id))[0]?.errors['retry_0']).toMatch(/5 times in a row.*Its worker was lost/);
  });

  it('is not charged while it makes progress', async () => {
    const id = await newExport(db, place);
    for (let time = 1; time <= 12; time++) {
      const { lease } = (await claim())!;
      await leases.beginFile(lease, { ...file, key: `file ${time}`, target_cursor: String(time) });
      await leases.commitFile(lease, `file ${time}`);
      await lose();
      await leases.sweep(times, rules);
    }
    expect((await runsOf(db, id))[0]).toMatchObject({
      status: 'CREATED',
      retry_number: 0,
      reclaims: 1,
      rows_written: 12,
    });
  });

  it('is claimed by one of the workers that find it', async () => {
    const id = await newExport(db, place);
    await claim();
    await lose();
    const swept = await Promise.all(Array.from({ length: 4 }, () => leases.sweep(times, rules)));
    expect(swept.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 1]);
    expect((await eventsOf(db, id)).filter((type) => type === 'requeued')).toHaveLength(1);
  });
});
