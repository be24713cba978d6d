// Scheduled exports, in the database.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exportLeaseStorage, type ExportLeaseStorage } from '../../src/storage/exports/export-leases.ts';
import { exportStepStorage, type ExportStepStorage } from '../../src/storage/exports/export-steps.ts';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { eventsOf, newExport, newPlace, type Place, runsOf, sql } from './export-tables.ts';

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
    else await leases.fail(lease, { cause: status, message: 'AccessDenied' }, { retries: 0, delayMs: 0 });
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
