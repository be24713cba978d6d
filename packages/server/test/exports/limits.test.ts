// Limits and order of exports and partition runs: in the database, with several concurrent workers.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ClaimedPartitionRun,
  exportLeaseStorage,
  type ExportLeaseStorage,
} from '../../src/storage/exports/export-leases.ts';
import { exportStepStorage, type ExportStepStorage } from '../../src/storage/exports/export-steps.ts';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { newExport, newPlace, type Place, sql } from './export-tables.ts';
import { scaled } from '../speed.ts';

let db: TestDatabase;
let leases: ExportLeaseStorage & ExportStepStorage;
let place: Place;
beforeAll(async () => {
  db = await testDatabase();
  leases = { ...exportLeaseStorage(db), ...exportStepStorage(db) };
});
afterAll(() => db[Symbol.asyncDispose]());
beforeEach(async () => {
  await sql(db, 'delete from exports');
  place = await newPlace(db);
});

const defaultLimits = { runsPerExport: 45, exportsPerWorkspace: 15 };
const leaseMs = 60_000;
const claim = async (count: number, limits = defaultLimits): Promise<ClaimedPartitionRun[]> =>
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
          const claimed = await claim(16);
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
    expect(await claim(64)).toHaveLength(45);
    expect(await claim(64)).toHaveLength(0);
    const [run] = await sql<{ id: string; lease_token: number }>(
      db,
      `select id, lease_token from export_runs where export_id = $1 and status = 'RUNNING' limit 1`,
      [id],
    );
    await leases.completePartitionRun({ tenant_id: place.tenant_id, task: 'run', ...run! });
    expect(await claim(64)).toHaveLength(1);
  });

  it('let the next export start when one has ended, whatever its outcome', async () => {
    const limits = { ...defaultLimits, exportsPerWorkspace: 1 };
    const [first, second, third] = [
      await newExport(db, place),
      await newExport(db, place),
      await newExport(db, place),
    ];
    expect(exportsOf(await claim(9, limits))).toEqual([first]);
    expect(await claim(9, limits)).toEqual([]);
    await exportStorage(db).cancel(place.tenant_id, first!);
    const [running] = await claim(9, limits);
    expect(running?.export.id).toBe(second);
    await leases.fail(running!.lease, { cause: 'destination', message: 'no' }, { retries: 20, delayMs: 0 });
    expect(exportsOf(await claim(9, limits))).toEqual([third]);
  });

  it('do not let a large export of one workspace delay other workspaces', async () => {
    const other = await newPlace(db);
    const large = await newExport(db, place, { days: 300 });
    expect(new Set(exportsOf(await claim(8)))).toEqual(new Set([large]));
    const small = await newExport(db, other, { days: 2 });
    const also = await newExport(db, place, { days: 2 });
    expect(exportsOf(await claim(1))).toEqual([small]);
    expect(exportsOf(await claim(1))).toEqual([small]);
    expect(exportsOf(await claim(1))).toEqual([also]);
  });

  it('alternate between exports when there is one slot for all', async () => {
    const first = await newExport(db, place, { days: 3 });
    const second = await newExport(db, place, { days: 3 });
    const served: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const [run] = await claim(1);
      served.push(run!.export.id);
      await leases.completePartitionRun(run!.lease);
    }
    expect(served).toEqual([first, second, first, second, first, second]);
  });

  it('of manifests hold with the plan that PostgreSQL makes when it estimates one row for the table', async () => {
    await newExport(db, place);
    await sql(db, 'vacuum analyze exports');
    for (let count = 0; count < 4; count++) await newExport(db, place);
    for (const { lease } of await claim(5)) await leases.completePartitionRun(lease);
    for (const due of [1, 3, 1])
      expect((await leases.claimManifests(due, leaseMs)).claimed).toHaveLength(due);
    expect((await leases.claimManifests(1, leaseMs)).claimed).toEqual([]);
  });
});
