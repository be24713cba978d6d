// Attempts, their errors and delays, timeouts, and partition runs of lost workers: in the database.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ClaimedPartitionRun,
  exportLeaseStorage,
  type ExportLeaseStorage,
} from '../../src/storage/exports/export-leases.ts';
import { exportStepStorage, type ExportStepStorage } from '../../src/storage/exports/export-steps.ts';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { scaled } from '../speed.ts';
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
const rules = { retries: 20, retryDelayMs: 30_000 };
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
    expect(await leases.sweep({ ...times, ...rules })).toBe(0);
    await exceedTimeLimit();
    expect(await leases.sweep({ ...times, ...rules })).toBe(1);
    const [run] = await runsOf(db, id);
    expect(run).toMatchObject({ status: 'CREATED', retry_number: 1 });
    expect(run?.errors['retry_0']).toMatch(/exceeded its time limit/);
    expect(await leases.renew([claimed!.lease], 60_000)).toEqual(new Set());
  });

  it('and was the last one leaves its partition run timed out and its export failed', async () => {
    const id = await newExport(db, place);
    await claim();
    await exceedTimeLimit();
    await leases.sweep({ ...times, retries: 0, retryDelayMs: 0 });
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
    expect(await leases.sweep({ ...times, ...rules })).toBe(0);
    await sql(db, `update exports set started_at = now() - interval '72 h'`);
    expect(await leases.sweep({ ...times, ...rules })).toBe(1);
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
    expect(await leases.sweep({ ...times, ...rules })).toBe(0);
    expect(await leases.startPartitionRun(lease)).toBe(true);
    await passes('3 h 59 min');
    // A repeated report changes nothing.
    expect(await leases.startPartitionRun(lease)).toBe(true);
    expect(await leases.sweep({ ...times, ...rules })).toBe(0);
    await passes('1 min');
    expect(await leases.sweep({ ...times, ...rules })).toBe(1);
    expect((await runsOf(db, id))[0]).toMatchObject({ status: 'CREATED', retry_number: 1 });
    expect(await leases.startPartitionRun(lease)).toBe(false);
  });

  it('is also retried when its exporter never starts', async () => {
    const id = await newExport(db, place);
    await claim();
    await sql(db, `update export_runs set claimed_at = now() - interval '4 h 5 min'`);
    expect(await leases.sweep({ ...times, ...rules })).toBe(1);
    expect((await runsOf(db, id))[0]).toMatchObject({ status: 'CREATED', retry_number: 1 });
  });

  it('does not include the time in the queue', async () => {
    const id = await newExport(db, place);
    await sql(db, `update exports set created_at = now() - interval '100 h'`);
    expect(await leases.sweep({ ...times, ...rules })).toBe(0);
    expect(await claim()).toBeDefined();
    expect(await leases.sweep({ ...times, ...rules })).toBe(0);
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
      expect(await leases.sweep({ ...times, ...rules })).toBe(1);
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
      await leases.sweep({ ...times, ...rules });
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
    const swept = await Promise.all(Array.from({ length: 4 }, () => leases.sweep({ ...times, ...rules })));
    expect(swept.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 1]);
    expect((await eventsOf(db, id)).filter((type) => type === 'requeued')).toHaveLength(1);
  });
});

// Limits and order of exports and partition runs: in the database, with several concurrent workers.

beforeAll(async () => {
  db = await testDatabase();
  leases = { ...exportLeaseStorage(db), ...exportStepStorage(db) };
});

beforeEach(async () => {
  await sql(db, 'delete from exports');
  place = await newPlace(db);
});

const defaultLimits = { runsPerExport: 45, exportsPerWorkspace: 15 };
const leaseMs = 60_000;

const claimWithin = async (count: number, limits = defaultLimits): Promise<ClaimedPartitionRun[]> =>
  (await leases.claimPartitionRuns(count, leaseMs, limits)).claimed;

const exportsOf = (claimed: ClaimedPartitionRun[]): string[] => claimed.map(({ export: of }) => of.id);

describe('limits of exports', () => {
  it(
    'hold with four workers and forty exports, which start in the order of their creation',
    async () => {
      const other = await newPlace(db);
      const made: string[] = [];
      for (let count = 0; count < 40; count++)
        made.push(await newExport(db, count % 4 === 3 ? other : place, { days: 60 }));
      // A trigger fails the test when a limit is exceeded.
      await db.script(`
      create function check_limits() returns trigger language plpgsql as $$ begin
        if (select count(*) from svc.exports where tenant_id = new.tenant_id and status = 'RUNNING') > 15
          or (select max(n) from (select count(*) as n from svc.export_runs where status = 'RUNNING' group by export_id) c) > 45
        then raise exception 'over the limit'; end if;
        return null;
      end $$;
      create constraint trigger limits after update on svc.export_runs deferrable initially deferred
        for each row when (new.status = 'RUNNING' and old.status = 'CREATED') execute function check_limits();`);
      const most = { exports: 0, runs: 0 };
      let left = 40 * 60;
      const worker = async (): Promise<void> => {
        for (;;) {
          const claimed = await claimWithin(16);
          const [now] = await sql<{ exports: number; runs: number }>(
            db,
            `select (select count(*) from exports where status = 'RUNNING' and tenant_id = $1) as exports,
            (select max(n) from (select count(*) as n from export_runs where status = 'RUNNING' group by export_id) c)::int as runs`,
            [place.tenant_id],
          );
          most.exports = Math.max(most.exports, now?.exports ?? 0);
          most.runs = Math.max(most.runs, now?.runs ?? 0);
          for (const { lease } of claimed.slice(0, 14))
            expect(await leases.completePartitionRun(lease)).toBe(true);
          // Some take longer.
          void Promise.all(claimed.slice(14).map(({ lease }) => leases.completePartitionRun(lease)));
          left -= claimed.length;
          for (const { lease } of (await leases.claimManifests(4, leaseMs)).claimed)
            expect(await leases.completeExport(lease, '{}')).toBe(true);
          if (claimed.length === 0 && left <= 0) return;
        }
      };
      await Promise.all([worker(), worker(), worker(), worker()]);
      await db.script('drop trigger limits on svc.export_runs; drop function check_limits');
      expect(most.exports).toBe(15);
      const ended = await sql<{ id: string; tenant_id: string }>(
        db,
        `select id, tenant_id from exports where status in ('RUNNING', 'COMPLETED') order by started_at, claimed_at`,
      );
      expect(ended).toHaveLength(40);
      for (const { tenant_id } of [place, other]) {
        const started = await sql<{ id: string }>(
          db,
          `select v.export_id as id from export_events v where v.type = 'started' and v.tenant_id = $1 order by v.id`,
          [tenant_id],
        );
        const mine = await sql<{ id: string }>(
          db,
          'select id from exports where tenant_id = $1 order by created_at, id',
          [tenant_id],
        );
        expect(started.map(({ id }) => id)).toEqual(mine.map(({ id }) => id));
      }
    },
    scaled(120_000),
  );

  it('prevent the claim of a partition run whose export has reached its limit', async () => {
    const id = await newExport(db, place, { days: 50 });
    expect(await claimWithin(64)).toHaveLength(45);
    expect(await claimWithin(64)).toHaveLength(0);
    const [run] = await sql<{ id: string; lease_token: number }>(
      db,
      `select id, lease_token from export_runs where export_id = $1 and status = 'RUNNING' limit 1`,
      [id],
    );
    await leases.completePartitionRun({ tenant_id: place.tenant_id, task: 'run', ...run! });
    expect(await claimWithin(64)).toHaveLength(1);
  });

  it('let the next export start when one has ended, whatever its outcome', async () => {
    const limits = { ...defaultLimits, exportsPerWorkspace: 1 };
    const [first, second, third] = [
      await newExport(db, place),
      await newExport(db, place),
      await newExport(db, place),
    ];
    expect(exportsOf(await claimWithin(9, limits))).toEqual([first]);
    expect(await claimWithin(9, limits)).toEqual([]);
    await exportStorage(db).cancel(place.tenant_id, first!);
    const [running] = await claimWithin(9, limits);
    expect(running?.export.id).toBe(second);
    await leases.fail(
      running!.lease,
      { cause: 'destination', message: 'no' },
      { retries: 20, retryDelayMs: 0 },
    );
    expect(exportsOf(await claimWithin(9, limits))).toEqual([third]);
  });

  it('do not let a large export of one workspace delay other workspaces', async () => {
    const other = await newPlace(db);
    const large = await newExport(db, place, { days: 300 });
    expect(new Set(exportsOf(await claimWithin(8)))).toEqual(new Set([large]));
    const small = await newExport(db, other, { days: 2 });
    const also = await newExport(db, place, { days: 2 });
    expect(exportsOf(await claimWithin(1))).toEqual([small]);
    expect(exportsOf(await claimWithin(1))).toEqual([small]);
    expect(exportsOf(await claimWithin(1))).toEqual([also]);
  });

  it('alternate between exports when there is one slot for all', async () => {
    const first = await newExport(db, place, { days: 3 });
    const second = await newExport(db, place, { days: 3 });
    const served: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const [run] = await claimWithin(1);
      served.push(run!.export.id);
      await leases.completePartitionRun(run!.lease);
    }
    expect(served).toEqual([first, second, first, second, first, second]);
  });

  it('of manifests hold with the plan that PostgreSQL makes when it estimates one row for the table', async () => {
    await newExport(db, place);
    await sql(db, 'vacuum analyze exports');
    for (let count = 0; count < 4; count++) await newExport(db, place);
    for (const { lease } of await claimWithin(5)) await leases.completePartitionRun(lease);
    for (const due of [1, 3, 1])
      expect((await leases.claimManifests(due, leaseMs)).claimed).toHaveLength(due);
    expect((await leases.claimManifests(1, leaseMs)).claimed).toEqual([]);
  });
});

// Scheduled exports, in the database.

const hourMs = 3_600_000;
const lagMs = 600_000;

const agoHours = (hours: number): string =>
  new Date(Date.now() - hours * hourMs).toISOString().replace('Z', '000Z');

const childrenOf = (schedule: string) =>
  sql<{ id: string; status: string; since: string; until: string }>(
    db,
    `select id, status, window_start as since, window_end as until from exports where source_export_id = $1 order by window_start`,
    [schedule],
  );

const spawnAll = async (unfinished = 15): Promise<number> => {
  let total = 0;
  for (let count = 1; count > 0; total += count) count = await leases.spawn(lagMs, unfinished, 50);
  return total;
};

const finish = (status: 'COMPLETED' | 'destination' | 'error') => async (): Promise<void> => {
  const { claimed } = await leases.claimPartitionRuns(64, 60_000, {
    runsPerExport: 45,
    exportsPerWorkspace: 15,
  });
  for (const { lease } of claimed)
    if (status === 'COMPLETED') await leases.completePartitionRun(lease);
    else
      await leases.fail(lease, { cause: status, message: 'AccessDenied' }, { retries: 0, retryDelayMs: 0 });
  for (const { lease } of (await leases.claimManifests(64, 60_000)).claimed)
    await leases.completeExport(lease, '{}');
};

describe('a schedule', () => {
  it('creates the export of a window once the window and the lag are over, and not before', async () => {
    const start = new Date(Date.now() - 2 * hourMs - lagMs + 60_000).toISOString().replace('Z', '000Z');
    const id = await newExport(db, place, { interval_hours: 1, start });
    expect(await spawnAll()).toBe(1);
    const [child] = await childrenOf(id);
    expect(Date.parse(child!.since)).toBe(Date.parse(start));
    expect(Date.parse(child!.until)).toBe(Date.parse(start) + hourMs);
    await sql(db, `update exports set next_window = next_window - interval '2 min' where id = $1`, [id]);
    expect(await spawnAll()).toBe(1);
    expect(await eventsOf(db, id)).toEqual(['created', 'spawned', 'spawned']);
    expect(await eventsOf(db, child!.id)).toEqual(['created']);
  });

  it('creates each window once with four workers', async () => {
    const id = await newExport(db, place, { interval_hours: 1, start: agoHours(12) });
    // A worker that finds the schedule locked creates none; the next worker creates the rest.
    const made: number[] = [];
    const look = async (): Promise<void> => {
      made.push(...(await Promise.all(Array.from({ length: 4 }, () => spawnAll(100)))));
      expect(await childrenOf(id)).toHaveLength(11);
    };
    await eventually(look);
    expect(await spawnAll(100)).toBe(0);
    const children = await childrenOf(id);
    expect(made.reduce((sum, count) => sum + count, 0)).toBe(children.length);
    expect(new Set(children.map(({ since }) => since)).size).toBe(11);
    for (const [at, { until }] of children.entries())
      if (children[at + 1]) expect(children[at + 1]?.since).toBe(until);
  });

  it('creates no window twice, even when its position was set back', async () => {
    const id = await newExport(db, place, { interval_hours: 1, start: agoHours(5) });
    await spawnAll();
    await sql(db, `update exports set next_window = window_start where id = $1`, [id]);
    expect(await spawnAll()).toBe(0);
    expect(await childrenOf(id)).toHaveLength(4);
  });

  it('that is behind creates the oldest windows first, and no more at once than may execute', async () => {
    const id = await newExport(db, place, { interval_hours: 24, start: agoHours(24 * 40) });
    expect(await spawnAll(15)).toBe(15);
    const first = await childrenOf(id);
    expect(first.map(({ since }) => Date.parse(since))).toEqual(
      first.map((_, at) => Date.parse(first[0]!.since) + at * 24 * hourMs),
    );
    await finish('COMPLETED')();
    const done = (await childrenOf(id)).filter(({ status }) => status === 'COMPLETED').length;
    expect(done).toBeGreaterThan(0);
    expect(await spawnAll(15)).toBe(done);
  });

  it('does not wait for schedules of another workspace that are behind by centuries', async () => {
    const busy = await newPlace(db);
    for (let made = 0; made < 12; made++)
      await newExport(db, busy, { interval_hours: 1, start: '1000-01-01T00:00:00.000000Z' });
    const id = await newExport(db, place, { interval_hours: 1, start: agoHours(2) });
    expect(await leases.spawn(lagMs, 15, 10)).toBe(10);
    expect(await childrenOf(id)).toHaveLength(1);
  });

  it('creates no more while its workspace has 10,000 unfinished exports of schedules', async () => {
    const other = await newExport(db, place, { interval_hours: 1, start: agoHours(2) });
    const id = await newExport(db, place, { interval_hours: 24, start: agoHours(24 * 40) });
    await sql(
      db,
      `insert into exports (tenant_id, id, destination_id, session_id, window_start, window_end, format_version, layout_version, compression, source_export_id, status)
        select tenant_id, gen_random_uuid(), destination_id, session_id, window_start + n * interval '1 h', window_start + (n + 1) * interval '1 h',
          format_version, layout_version, compression, id, 'CREATED' from exports, generate_series(1, 9998) n where id = $1`,
      [other],
    );
    expect(await spawnAll()).toBe(2);
    await sql(db, `update exports set status = 'FAILED' where source_export_id = $1`, [other]);
    expect(await spawnAll()).toBeGreaterThan(2);
    expect(await childrenOf(id)).toHaveLength(15);
  });

  it('cuts windows at midnight UTC', async () => {
    const id = await newExport(db, place, { interval_hours: 48, start: '2026-03-01T22:00:00.000000Z' });
    await leases.spawn(lagMs, 1, 1);
    const [child] = await childrenOf(id);
    const rows = await sql<{ since: string; until: string }>(
      db,
      'select window_start as since, window_end as until from export_runs where export_id = $1 order by window_start',
      [child!.id],
    );
    expect(rows).toEqual([
      { since: '2026-03-01T22:00:00.000Z', until: '2026-03-02T00:00:00.000Z' },
      { since: '2026-03-02T00:00:00.000Z', until: '2026-03-03T00:00:00.000Z' },
      { since: '2026-03-03T00:00:00.000Z', until: '2026-03-03T22:00:00.000Z' },
    ]);
  });

  it('continues when one of its exports fails', async () => {
    const id = await newExport(db, place, { interval_hours: 1, start: agoHours(6) });
    await leases.spawn(lagMs, 15, 1);
    await finish('error')();
    expect((await childrenOf(id)).map(({ status }) => status)).toEqual(['FAILED']);
    expect(await spawnAll()).toBe(4);
  });

  it('pauses with a reason when its destination has rejected ten exports in a row', async () => {
    const id = await newExport(db, place, { interval_hours: 1, start: agoHours(30) });
    for (let count = 1; count <= 9; count++) {
      expect(await leases.spawn(lagMs, 1, 1)).toBe(1);
      await finish('destination')();
    }
    // A successful export resets the count.
    await leases.spawn(lagMs, 1, 1);
    await finish('COMPLETED')();
    for (let count = 1; count <= 10; count++) {
      expect(await leases.spawn(lagMs, 1, 1)).toBe(1);
      await finish('destination')();
    }
    expect(await leases.spawn(lagMs, 1, 1)).toBe(0);
    const [row] = await sql(db, 'select status, next_window, error from exports where id = $1', [id]);
    expect(row).toMatchObject({
      status: 'INTERVALSCHEDULED',
      next_window: null,
      error: expect.stringMatching(/^Paused: 10 exports in a row have failed\..*AccessDenied/),
    });
    expect((await eventsOf(db, id)).at(-1)).toBe('paused');
  });

  it('that is cancelled creates no more, and its exports continue', async () => {
    const id = await newExport(db, place, { interval_hours: 1, start: agoHours(6) });
    await leases.spawn(lagMs, 15, 1);
    await exportStorage(db).cancel(place.tenant_id, id);
    expect(await spawnAll()).toBe(0);
    await finish('COMPLETED')();
    const [child] = await childrenOf(id);
    expect(child?.status).toBe('COMPLETED');
    expect((await runsOf(db, child!.id)).every(({ status }) => status === 'COMPLETED')).toBe(true);
  });
});
