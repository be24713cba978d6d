// Periodic tasks work on the rows of all workspaces: one row that cannot be processed must not hold up the others.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exportLeaseStorage } from '../../src/storage/exports/export-leases.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { traceHourStorage } from '../../src/storage/tracing/trace-hours.ts';
import { tracePartitionStorage } from '../../src/storage/tracing/trace-partitions.ts';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { newExport, newPlace, type Place, runsOf, sql } from '../exports/export-tables.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

const daysKept = 30;
const start = new Date(Date.now() - 3_600_000);

const traceRun = (id: string, fields: TraceWrite['fields']): TraceWrite => ({
  id,
  rank: 0,
  patched: 0,
  writes: [String(Math.floor(Math.random() * 1e9))],
  start_time: start.toISOString(),
  metadata: '{}',
  fields: { run_type: 'llm', ...fields },
});

describe('counting hours of traces', () => {
  it('continues when a workspace has sent more tokens than a column holds', async () => {
    const traces = traceStorage(db);
    const hours = traceHourStorage(db);
    const [bad, good] = [randomUUID(), randomUUID()];
    const session_id = randomUUID();
    const total_tokens = String(Number.MAX_SAFE_INTEGER);
    const many = Array.from({ length: 1_030 }, () => traceRun(randomUUID(), { session_id, total_tokens }));
    await traces.ingest(bad, many, [], daysKept);
    await traces.ingest(good, [traceRun(randomUUID(), { session_id, total_tokens: '7' })], [], daysKept);
    expect(await hours.fold(0, 100)).toBeGreaterThanOrEqual(2);
    const rows = await sql(db, 'select tenant_id, total_tokens::text as total from trace_hours');
    expect(rows).toContainEqual({ tenant_id: good, total: '7' });
    expect(rows).toContainEqual({ tenant_id: bad, total: '9223372036854775807' });
  });
});

describe('assigning paths to trace runs whose parents arrived after them', () => {
  it('continues when a workspace has trace runs that never get a path', async () => {
    const traces = traceStorage(db);
    const bad = '00000000-0000-4000-8000-000000000000';
    const good = 'ffffffff-ffff-4fff-8fff-ffffffffffff';
    for (let pair = 0; pair < 5; pair++) {
      const [a, b] = [randomUUID(), randomUUID()];
      const circle = [traceRun(a, { parent_run_id: b }), traceRun(b, { parent_run_id: a })];
      await traces.ingest(bad, circle, [], daysKept);
    }
    const [parent, child] = [randomUUID(), randomUUID()];
    const dotted_order = `20260101T000000000000Z${parent}`;
    const made = [
      traceRun(parent, { trace_id: parent, dotted_order }),
      traceRun(child, { parent_run_id: parent }),
    ];
    await traces.ingest(good, made, [], daysKept);
    // As if two concurrent batches had missed each other.
    await sql(db, 'update trace_runs set dotted_order = null where id = $1', [child]);
    await sql(db, 'insert into trace_orphans values ($1, $2, $3)', [good, parent, child]);
    expect(await tracePartitionStorage(db).adoptLate(2)).toBe(1);
    const [row] = await sql<{ dotted_order: string }>(
      db,
      'select dotted_order from trace_runs where id = $1',
      [child],
    );
    expect(row?.dotted_order).toMatch(new RegExp(`^${dotted_order}\\..*${child}$`));
  });
});

describe('exports', () => {
  let place: Place;
  beforeEach(async () => {
    await sql(db, 'delete from exports');
    place = await newPlace(db);
  });
  const retry = { retries: 0, delayMs: 0 };
  const limits = { runsPerExport: 10, exportsPerWorkspace: 10 };

  /** From now on every update of this export fails. */
  const breakExport = async (id: string): Promise<void> => {
    await sql(
      db,
      `create or replace function refuse() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = 'check_violation'; end $$`,
    );
    await sql(
      db,
      `create or replace trigger refuse before insert or update on exports for each row
        when (new.id = '${id}' and new.status <> 'INTERVALSCHEDULED' or new.source_export_id = '${id}')
        execute function refuse()`,
    );
  };

  it('time out one by one: one that cannot is reported, and the others end', async () => {
    const ids = [await newExport(db, place), await newExport(db, place), await newExport(db, place)];
    const leases = exportLeaseStorage(db);
    await sql(db, `update exports set created_at = now() - interval '1 hour'`);
    expect((await leases.claimPartitionRuns(3, 60_000, limits)).claimed).toHaveLength(3);
    for (const [at, id] of ids.entries())
      await sql(
        db,
        `update exports set started_at = now() - interval '9 hours' + $2 * interval '1 s' where id = $1`,
        [id, at],
      );
    await breakExport(ids[0] ?? '');
    const times = { timeoutMs: 3_600_000, runTimeoutMs: 3_600_000 };
    await expect(leases.sweep(times, retry)).rejects.toThrow(/^1 of 3 .*could not be updated$/);
    const rows = await sql<{ id: string; status: string }>(db, 'select id, status from exports');
    expect(new Map(rows.map(({ id, status }) => [id, status]))).toEqual(
      new Map(ids.map((id, at) => [id, at === 0 ? 'RUNNING' : 'TIMEDOUT'])),
    );
    await sql(db, 'drop trigger refuse on exports');
  });

  it('of schedules are created one by one: a schedule that cannot create one is paused with the reason', async () => {
    const since = new Date(Date.now() - 3 * 3_600_000).toISOString().replace('Z', '000Z');
    const schedules = [
      await newExport(db, place, { interval_hours: 1, start: since }),
      await newExport(db, place, { interval_hours: 1, start: since }),
    ];
    const [bad = '', good = ''] = schedules.toSorted();
    await breakExport(bad);
    expect(await exportLeaseStorage(db).spawn(0, 15, 50)).toBe(1);
    const rows = await sql<{ id: string }>(
      db,
      `select id, next_window is null as paused, error from exports where status = 'INTERVALSCHEDULED'`,
    );
    expect(rows).toContainEqual({ id: good, paused: false, error: null });
    expect(rows).toContainEqual({
      id: bad,
      paused: true,
      error: 'Paused: the export of its next window could not be made (SQLSTATE 23514)',
    });
    await sql(db, 'drop trigger refuse on exports');
  });

  it('record an error that contains NUL, which a text column cannot store', async () => {
    const id = await newExport(db, place);
    const leases = exportLeaseStorage(db);
    await sql(db, `update exports set created_at = now() - interval '1 hour'`);
    const [first] = (await leases.claimPartitionRuns(1, 60_000, limits)).claimed;
    expect(await leases.requeue(first!.lease, 'lost\0here', retry)).toBe(true);
    const [second] = (await leases.claimPartitionRuns(1, 60_000, limits)).claimed;
    expect(await leases.fail(second!.lease, { cause: 'error', message: 'a\0b' }, retry)).toBe('FAILED');
    expect((await runsOf(db, id))[0]?.errors).toEqual({ retry_0: 'a\ufffdb' });
  });
});

describe('a run', () => {
  it('is released with an error that contains NUL', async () => {
    const leases = runLeaseStorage(db);
    await leases.release([{ id: randomUUID(), lease_token: 1 }], {
      charge: true,
      lost: true,
      reason: 'a\0b',
    });
  });
});
