// Failures during an export, on one worker or several: exporters that hang, stop, run out of disk, or continue after they lost their lease.
import { execFileSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { toPartitionRunCommand } from '../../src/exports/worker/export-attempt.ts';
import { ExporterPool } from '../../src/exports/worker/exporter-pool.ts';
import type { ExportOutcome } from '../../src/exports/exporter/exporter-protocol.ts';
import { exportLeaseStorage } from '../../src/storage/exports/export-leases.ts';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { traceStorage } from '../../src/storage/tracing/traces.ts';
import { testDatabase } from '../database.ts';
import { checkCompleted, checkUnfinished, folderView } from './export-audit.ts';
import { eventually } from '../eventually.ts';
import { startExportNode } from './export-node.ts';
import {
  eventsOf,
  firstDay,
  newExport,
  newPlace,
  type Place,
  runsOf,
  sql,
  statusOf,
} from './export-tables.ts';
import { ExporterPlan, plannedExporter, slowExporter } from './exporter-plan.ts';
import { addRuns, daysKept } from './stored-runs.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';
import { testFolder } from '../folders.ts';
import { traceWrite } from '../platform/trace-write.ts';

const db = fixture(() => testDatabase());
let folder: string;
let place: Place;
beforeEach(async () => {
  folder = testFolder();
  place = await newPlace(db, folder);
});

const until = (id: string, status: string): Promise<void> =>
  eventually(async () => expect(await statusOf(db, id)).toBe(status), 60_000);
const firstRun = async (id: string) => (await runsOf(db, id))[0]!;
const untilStep = (
  plan: ExporterPlan,
  ...[step, count = 1]: Parameters<ExporterPlan['count']> | [Parameters<ExporterPlan['count']>[0], number]
) => eventually(() => expect(plan.count(step)).toBeGreaterThanOrEqual(count), 60_000);
const one = { exportSlots: '1' };

describe('an export partition run', () => {
  it('that always fails has its twenty-one attempts in one exporter, with the delay between them', async () => {
    using plan = new ExporterPlan({ step: 'written', nth: 'every', action: 'fail' });
    await using node = await startExportNode(db, {
      program: plannedExporter,
      settings: { ...one, exportRetries: 20, exportRetryDelayMs: 30 },
    });
    await addRuns(db, place, { start: firstDay, count: 10 });
    const id = await newExport(db, place);
    await until(id, 'FAILED');
    const run = await firstRun(id);
    expect(Object.keys(run.errors)).toHaveLength(21);
    for (let attempt = 0; attempt <= 20; attempt++) expect(run.errors[`retry_${attempt}`]).toMatch(/memory/);
    const pauses = await sql<{ ms: number }>(
      db,
      `select extract(epoch from c.at - r.at)::float8 * 1000 as ms from export_events r
        cross join lateral (select min(c.at) as at from export_events c where c.export_id = r.export_id and c.type = 'claimed' and c.id > r.id) c
        where r.export_id = $1 and r.type = 'retry'`,
      [id],
    );
    expect(pauses).toHaveLength(20);
    for (const { ms } of pauses) expect(ms).toBeGreaterThanOrEqual(30);
    expect(new Set(plan.steps.map(({ pid }) => pid)).size).toBe(1);
    expect(node.worker.tally.attempts.get('failed')).toBe(21);
    await checkUnfinished(folderView(folder), id);
  });

  it(
    'whose attempts hang is retried after the time limit of each, and is timed out after the last',
    async () => {
      using _ = new ExporterPlan({ step: 'begun', nth: 'every', action: 'wait' });
      await using _node = await startExportNode(db, {
        program: plannedExporter,
        settings: { ...one, exportRunTimeoutMs: 4_000, exportRetries: 1 },
      });
      await addRuns(db, place, { start: firstDay, count: 10 });
      const id = await newExport(db, place);
      await until(id, 'FAILED');
      expect(await firstRun(id)).toMatchObject({
        status: 'TIMEDOUT',
        retry_number: 1,
        errors: {
          retry_0: expect.stringMatching(/exceeded its time limit/),
          retry_1: expect.stringMatching(/exceeded its time limit/),
        },
      });
    },
    scaled(60_000),
  );

  it(
    'is not charged for the start time of its exporter',
    async () => {
      using plan = new ExporterPlan();
      await using _node = await startExportNode(db, {
        program: slowExporter,
        settings: { ...one, exportRunTimeoutMs: 20_000, exportRetries: 0 },
      });
      await addRuns(db, place, { start: firstDay, count: 10 });
      const id = await newExport(db, place);
      const times = () =>
        sql<{ claimed: boolean; began: boolean }>(
          db,
          `select claimed_at is not null as claimed, attempt_at is not null as began from export_runs where export_id = $1`,
          [id],
        );
      await eventually(async () => expect(await times()).toEqual([{ claimed: true, began: false }]));
      await sql(
        db,
        `update export_runs set claimed_at = claimed_at - interval '1 min' where export_id = $1`,
        [id],
      );
      const rules = { retries: 0, retryDelayMs: 0 };
      expect(
        await exportLeaseStorage(db).sweep({ timeoutMs: 3_600_000, runTimeoutMs: 20_000, ...rules }),
      ).toBe(0);
      plan.go();
      await until(id, 'COMPLETED');
      expect(await times()).toEqual([{ claimed: true, began: true }]);
    },
    scaled(90_000),
  );

  it(
    "is timed out with its export when the export's time is over, and leaves no exporter running",
    async () => {
      using plan = new ExporterPlan({ step: 'written', nth: 1, action: 'wait' });
      await using node = await startExportNode(db, {
        program: plannedExporter,
        settings: { ...one, exportTimeout: '5s' },
      });
      await addRuns(db, place, { start: firstDay, count: 10 });
      const id = await newExport(db, place, { days: 2 });
      await until(id, 'TIMEDOUT');
      expect((await runsOf(db, id)).map(({ status }) => status)).toEqual(['TIMEDOUT', 'TIMEDOUT']);
      plan.go();
      await eventually(() => expect(node.worker.running).toBe(0));
      expect(await checkUnfinished(folderView(folder), id)).toEqual([]);
    },
    scaled(60_000),
  );

  it('whose rows cannot be read for a moment waits for the database, and no attempt is counted', async () => {
    using plan = new ExporterPlan({ step: 'committed', nth: 1, action: 'wait' });
    await using _node = await startExportNode(db, {
      program: plannedExporter,
      settings: { ...one, exportFileBytes: 1_024, exportLeaseMs: 3_600_000 },
    });
    await addRuns(db, place, { start: firstDay, count: 50 });
    const id = await newExport(db, place);
    await untilStep(plan, 'committed');
    await db.transact(async (tx) => {
      await sql(tx, 'lock table trace_runs in access exclusive mode');
      plan.go();
      await eventually(async () => {
        const cut = await sql(
          db,
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'svc exporter' and wait_event_type = 'Lock'`,
        );
        expect(cut).toHaveLength(1);
      });
    });
    await until(id, 'COMPLETED');
    expect(await firstRun(id)).toMatchObject({ retry_number: 0, reclaims: 0, errors: {}, rows_written: 50 });
    await checkCompleted(db, folderView(folder), id);
  });

  it('that is cancelled between two partition runs starts no other', async () => {
    using plan = new ExporterPlan({ step: 'finished', nth: 1, action: 'wait' });
    await using node = await startExportNode(db, { program: plannedExporter, settings: one });
    await addRuns(db, place, { start: firstDay, count: 10 });
    await addRuns(db, place, { start: '2026-03-02T00:00:00Z', count: 10 });
    const id = await newExport(db, place, { days: 2 });
    await untilStep(plan, 'finished');
    expect(await exportStorage(db).cancel(place.tenant_id, id)).toBe('RUNNING');
    plan.go();
    await eventually(() => expect(node.worker.running).toBe(0));
    expect((await runsOf(db, id)).map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED']);
    expect(await checkUnfinished(folderView(folder), id)).toHaveLength(1);
    expect((await eventsOf(db, id)).at(-1)).toBe('cancelled');
  });

  it('that is cancelled while its manifest is written leaves no manifest', async () => {
    using plan = new ExporterPlan({ step: 'manifest uploaded', nth: 1, action: 'wait' });
    await using node = await startExportNode(db, { program: plannedExporter, settings: one });
    await addRuns(db, place, { start: firstDay, count: 10 });
    const id = await newExport(db, place);
    await untilStep(plan, 'manifest uploaded');
    await exportStorage(db).cancel(place.tenant_id, id);
    plan.go();
    await eventually(() => expect(node.worker.running).toBe(0));
    expect(await statusOf(db, id)).toBe('CANCELLED');
    await eventually(() => checkUnfinished(folderView(folder), id));
  });
});

describe('a worker that stops', () => {
  it('lets its exporters finish their files, and releases the rest at once', async () => {
    using plan = new ExporterPlan({ step: 'written', nth: 2, action: 'wait' });
    await addRuns(db, place, { start: firstDay, count: 400 });
    let id: string;
    {
      await using node = await startExportNode(db, {
        program: plannedExporter,
        settings: { ...one, exportLeaseMs: 3_600_000 },
      });
      id = await newExport(db, place);
      await untilStep(plan, 'written', 2);
      const drained = node.worker.drain(60_000, new AbortController().signal);
      plan.go();
      await drained;
      const [run] = await sql(
        db,
        'select status, lease_until, retry_number, reclaims, cursor from export_runs where export_id = $1',
        [id],
      );
      expect(run).toMatchObject({
        status: 'CREATED',
        lease_until: null,
        retry_number: 0,
        cursor: expect.any(String),
      });
      expect(plan.count('committed')).toBe(2);
      expect((await eventsOf(db, id)).at(-1)).toBe('requeued');
    }
    await using _other = await startExportNode(db);
    await until(id, 'COMPLETED');
    expect((await checkCompleted(db, folderView(folder), id)).rows).toBe(400);
  });

  it('releases what is not finished within its grace period', async () => {
    using plan = new ExporterPlan({ step: 'begun', nth: 2, action: 'wait' });
    await addRuns(db, place, { start: firstDay, count: 400 });
    const node = await startExportNode(db, {
      program: plannedExporter,
      settings: { ...one, exportLeaseMs: 3_600_000 },
    });
    const id = await newExport(db, place);
    await untilStep(plan, 'begun', 2);
    await node.worker.drain(50, new AbortController().signal);
    await node[Symbol.asyncDispose]();
    expect(await firstRun(id)).toMatchObject({ status: 'CREATED', retry_number: 0, reclaims: 0 + 1 });
    await using _other = await startExportNode(db);
    await until(id, 'COMPLETED');
    expect((await checkCompleted(db, folderView(folder), id)).rows).toBe(400);
  });
});

describe('an exporter that continues after its lease has ended', () => {
  it.each(['written', 'begun', 'uploaded', 'verified'] as const)(
    'writes nothing when it was suspended after the step %s',
    async (step) => {
      using plan = new ExporterPlan({ step, nth: 2, action: 'freeze' });
      await addRuns(db, place, { start: firstDay, count: 250 });
      const id = await newExport(db, place);
      const leases = exportLeaseStorage(db);
      const { claimed } = await leases.claimPartitionRuns(1, 3_600_000, {
        runsPerExport: 45,
        exportsPerWorkspace: 15,
      });
      const tempDir = testFolder();
      const stores = { allow: [], fileRoots: [tmpdir()], lendsCredentials: false };
      await using pool = new ExporterPool({
        setup: { database: db.options, stores },
        slots: 1,
        program: plannedExporter,
        logger: pino({ level: 'silent' }),
      });
      const target = {
        destination_type: 'file' as const,
        tenant_id: place.tenant_id,
        id: place.destination_id,
        config: { path: folder },
      };
      const zombie = new Promise<ExportOutcome>((resolve, reject) =>
        pool.run(toPartitionRunCommand(claimed[0]!, target, { tempDir, fileBytes: 100_000, freeBytes: 0 }), {
          onFile: () => undefined,
          onReplica: () => undefined,
          onOutcome: resolve,
          onLost: reject,
        }),
      );
      await untilStep(plan, step, 2);
      await sql(db, `update export_runs set lease_until = now() - interval '1 s' where export_id = $1`, [id]);
      {
        await using _node = await startExportNode(db);
        await until(id, 'COMPLETED');
      }
      const before = await folderView(folder).objects();
      const [pid] = pool.pids();
      process.kill(pid!, 'SIGCONT');
      expect(await zombie).toEqual({ kind: 'fenced' });
      expect(await folderView(folder).objects()).toEqual(before);
      await checkCompleted(db, folderView(folder), id);
    },
    60_000,
  );
});

describe('an export whose trace runs change', () => {
  it('contains the trace runs that existed when it was created, as they are when they are read', async () => {
    using plan = new ExporterPlan({ step: 'committed', nth: 1, action: 'wait' });
    await using _node = await startExportNode(db, { program: plannedExporter, settings: one });
    const ids = await addRuns(db, place, { start: firstDay, count: 400 });
    const id = await newExport(db, place);
    await untilStep(plan, 'committed');
    const addedLater = await addRuns(db, place, { start: firstDay, count: 50 });
    const patched = ids.at(-1)!;
    const deleted = ids.at(-2)!;
    await traceStorage(db).ingest(
      place.tenant_id,
      [
        {
          id: patched,
          rank: 1,
          patched: 256,
          writes: ['9'],
          start_time: null,
          metadata: '{}',
          fields: { error: 'it broke' },
        },
      ],
      [],
      daysKept,
    );
    await sql(db, 'delete from trace_runs where id = $1', [deleted]);
    plan.go();
    await until(id, 'COMPLETED');
    const manifest = await checkCompleted(db, folderView(folder), id);
    expect(manifest.rows).toBe(399);
    expect(addedLater.length).toBe(50);
    const again = await newExport(db, place);
    await until(again, 'COMPLETED');
    expect((await checkCompleted(db, folderView(folder), again)).rows).toBe(449);
  });

  it('continues when all rows of a started file are deleted', async () => {
    using _ = new ExporterPlan({ step: 'uploaded', nth: 1, action: 'freeze' });
    await using _node = await startExportNode(db, {
      program: plannedExporter,
      settings: { ...one, exportLeaseMs: 3_600_000 },
    });
    const ids = await addRuns(db, place, { start: firstDay, count: 100 });
    const id = await newExport(db, place);
    await eventually(async () => expect(await folderView(folder).objects()).toHaveLength(1), 60_000);
    // The uploaded object differs from the recorded rows, as after an interrupted upload.
    await sql(
      db,
      `update export_runs set pending_upload = pending_upload || '{"sha256": "0"}' where export_id = $1`,
      [id],
    );
    await sql(db, 'delete from trace_runs where id = any ($1::uuid[])', [ids]);
    process.kill(_.steps.at(-1)!.pid, 'SIGKILL');
    await until(id, 'COMPLETED');
    const manifest = await checkCompleted(db, folderView(folder), id);
    expect(manifest).toMatchObject({ rows: 0, files: [] });
  });

  it('has a trace run at midnight in the partition of the day that starts then', async () => {
    await using _node = await startExportNode(db);
    const at = async (start_time: string): Promise<void> => {
      const id = crypto.randomUUID();
      await traceStorage(db).ingest(
        place.tenant_id,
        [traceWrite(start_time, { session_id: place.session_id, trace_id: id, name: 'x' }, { id })],
        [],
        daysKept,
      );
    };
    for (const time of [
      '2026-02-28T23:59:59.999999Z',
      '2026-03-01T00:00:00.000000Z',
      '2026-03-01T23:59:59.999999Z',
      '2026-03-02T00:00:00.000000Z',
      '2026-03-29T02:30:00.000000+01:00',
      '2026-03-03T00:00:00.000000Z',
    ])
      await at(time);
    const id = await newExport(db, place, { days: 2 });
    await until(id, 'COMPLETED');
    const manifest = await checkCompleted(db, folderView(folder), id);
    expect(manifest.files.map(({ rows, partition }) => [rows, partition.start_time])).toEqual([
      [2, '2026-03-01T00:00:00.000000Z'],
      [1, '2026-03-02T00:00:00.000000Z'],
    ]);
  });
});

describe('temporary files', () => {
  const isRoot = process.getuid?.() === 0;
  it.runIf(isRoot && process.platform === 'linux')(
    'that do not fit the disk fail the attempt, and are deleted after it',
    async () => {
      await using node = await startExportNode(db, {
        settings: {
          ...one,
          exportRetries: 20,
          exportRetryDelayMs: 300,
          exportFileBytes: 20_971_520,
          exportFreeBytes: 0,
        },
      });
      const temp = join(node.dataDir, 'tmp', 'exports');
      await mkdir(temp, { recursive: true });
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', temp]);
      try {
        await addRuns(db, place, { start: firstDay, count: 60, bytes: 100_000 });
        const id = await newExport(db, place);
        await eventually(async () => expect((await firstRun(id)).retry_number).toBeGreaterThan(0), 60_000);
        expect((await firstRun(id)).errors['retry_0']).toMatch(/disk for temporary files.*full/);
        await eventually(async () =>
          expect(
            (await readdir(temp, { recursive: true })).filter((name) => name.endsWith('.parquet')),
          ).toEqual([]),
        );
        // Free space again.
        execFileSync('mount', ['-o', 'remount,size=100m', temp]);
        await until(id, 'COMPLETED');
        await checkCompleted(db, folderView(folder), id);
      } finally {
        execFileSync('umount', ['-l', temp]);
      }
    },
    90_000,
  );

  it('of a killed process are deleted when the next one starts, those of a live process are kept', async () => {
    const { TempFolders } = await import('../../src/exports/worker/temp-folders.ts');
    const root = join(folder, 'tmp');
    const host = (await import('node:os')).hostname().replaceAll(/[^\w.-]/g, '_');
    await mkdir(join(root, `${host}.999999999.00000000`, 'x'), { recursive: true });
    await mkdir(join(root, `${host}.${process.ppid}.00000000`), { recursive: true });
    await mkdir(join(root, `other.999999999.00000000`), { recursive: true });
    await using temp = new TempFolders(root);
    await temp.make('first');
    expect((await readdir(temp.root)).filter((name) => name.endsWith('.00000000')).toSorted()).toEqual(
      [`${host}.${process.ppid}.00000000`, 'other.999999999.00000000'].toSorted(),
    );
  });
});
