// The format of a file: its schema, its row groups, and what remains when it is aborted.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Compression, FormatVersion } from '@svc/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RowScope, WrittenFile } from '../../src/exports/parquet/export-file.ts';
import { type ExportPage, exportRows, type RowPlace } from '../../src/storage/exports/export-rows.ts';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { exactTime } from '../../src/storage/postgres/exact-text.ts';
import { sentStartBit, startTimeBit } from '../../src/storage/tracing/trace-columns.ts';
import { tracePartitionStorage } from '../../src/storage/tracing/trace-partitions.ts';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { parseFilter } from '../../src/tracing/filter/parse-filter.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';
import { newExport, newPlace, sql } from './export-tables.ts';
import { defaultLimits, defaultShape, openFolder, scopeOf } from './files.ts';
import { traceWrite } from '../platform/trace-write.ts';

const database = fixture(() => testDatabase());
const folder = fixture(() => openFolder(database));
const tenant_id = randomUUID();
const start = Date.now() - 1_000_000;

/** Creates a project with the given number of trace runs. */
const fill = async (count: number, fields: (index: number) => TraceWrite['fields']): Promise<string> => {
  const session_id = randomUUID();
  for (let from = 0; from < count; from += 1_000) {
    const runs = Array.from({ length: Math.min(1_000, count - from) }, (_, index) =>
      traceWrite(`${new Date(start + from + index).toISOString().slice(0, -1)}000Z`, {
        session_id,
        ...fields(from + index),
      }),
    );
    await traceStorage(database).ingest(tenant_id, runs, [], 400);
  }
  return session_id;
};

const codecs: Record<Compression, string> = {
  none: 'UNCOMPRESSED',
  gzip: 'GZIP',
  snappy: 'SNAPPY',
  zstandard: 'ZSTD',
};

const versions: FormatVersion[] = ['v1', 'v2_beta'];

const combinations = versions.flatMap((format_version) =>
  (Object.keys(codecs) as Compression[]).map((compression) => ({ format_version, compression })),
);

describe('a file', () => {
  it.each(combinations)(
    'of $format_version with $compression has one schema, whatever its values',
    async (how) => {
      const shape = { ...defaultShape, ...how };
      const bare = await fill(1, () => ({}));
      const full = await fill(3, (index) => ({
        name: 'n',
        inputs: JSON.stringify('x'.repeat(10_000)),
        tags: index === 0 ? '["a"]' : null,
        total_tokens: '5',
        total_cost: '0.5',
        dotted_order: 'a.b',
      }));
      const [one, other] = await Promise.all(
        [bare, full].map(async (session_id) => {
          const file = await folder.write({ scope: scopeOf({ tenant_id, session_id }), shape });
          const written = file ?? expect.fail('no file');
          const bytes = await readFile(written.path);
          expect(written).toMatchObject({
            bytes: bytes.length,
            sha256: createHash('sha256').update(bytes).digest('hex'),
          });
          return folder.read(written);
        }),
      );
      expect(one?.columns).toEqual(other?.columns);
      expect(other?.codecs).toEqual([codecs[how.compression]]);
      const logical = Object.fromEntries(one?.columns.map(({ path, logical: type }) => [path, type]) ?? []);
      const isFirst = how.format_version === 'v1';
      expect(logical).toMatchObject({
        id: 'STRING',
        inputs: 'STRING',
        start_time: `TIMESTAMP(MICROS,${isFirst ? 'false' : 'true'})`,
        tags: isFirst ? 'STRING' : 'LIST',
      });
      const physical = Object.fromEntries(one?.columns.map(({ path, physical: type }) => [path, type]) ?? []);
      expect(physical).toMatchObject({
        total_tokens: 'INT64',
        total_cost: 'DOUBLE',
        is_root: 'BOOLEAN',
        start_time: 'INT64',
      });
      expect(one?.columns.map(({ path }) => path).filter((path) => !path.includes('.'))).toEqual(
        shape.fields,
      );
    },
  );

  it('has row groups within the limits', async () => {
    const session_id = await fill(9_000, (index) => ({
      inputs: JSON.stringify(randomBytes(index < 4_096 ? 10 : 500).toString('hex')),
    }));
    const scope = scopeOf({ tenant_id, session_id });
    const shape = { ...defaultShape, fields: ['id', 'inputs'] as const };
    const groupsOf = async (limits: Partial<typeof defaultLimits>): Promise<number[]> => {
      const file = await folder.write({ scope, shape, limits: { ...defaultLimits, ...limits } });
      return (await folder.read(file ?? expect.fail('no file'))).rowGroups.map(({ rows }) => rows);
    };
    expect(await groupsOf({})).toEqual([9_000]);
    expect(await groupsOf({ rowGroupRows: 5_000 })).toEqual([4_096, 4_096, 808]);
    // Blocks of 2,048 rows of more than 2 MB each; the last two are smaller.
    expect(await groupsOf({ rowGroupBytes: 3_000_000 })).toEqual([2_048, 2_048, 2_048, 2_048, 808]);
  });

  it.each([1, 50, 250, 600])('leaves nothing behind when it is aborted after %i ms', async (ms) => {
    const session_id = (long ??= await fill(6_000, () => ({
      inputs: JSON.stringify(randomBytes(3_000).toString('hex')),
    })));
    const before = await folder.names();
    const scope = scopeOf({ tenant_id, session_id });
    const reason = new Error('enough');
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(reason), ms);
    const limits = { ...defaultLimits, pageRows: 500 };
    const outcome = await folder
      .write({ scope, limits, shape: { ...defaultShape, compression: 'gzip' } }, abort.signal)
      .catch((error: unknown) => error);
    clearTimeout(timer);
    // It may have completed before the abort.
    if (ms === 1 || outcome instanceof Error) expect(outcome).toBe(reason);
    expect((await folder.names()).length - before.length).toBe(outcome === reason ? 0 : 1);
    // The database can be queried as before.
    expect(await folder.write({ scope, limits: { ...limits, fileBytes: 1 } })).toMatchObject({ rows: 1 });
  });
  let long: string | undefined;

  it('leaves nothing behind when it cannot be written', async () => {
    const session_id = await fill(1, () => ({}));
    const path = '/nowhere/file.parquet';
    await expect(folder.write({ scope: scopeOf({ tenant_id, session_id }), path })).rejects.toThrow(
      /nowhere/,
    );
  });
});

// A trace run whose start time changes while its project is exported is in the files once, at its position at the export's creation.

const daysKept = 400;
const dayMs = 86_400_000;
const today = Math.floor(Date.now() / dayMs) * dayMs;
const at = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

const runOf = (session_id: string, startMs: number): TraceWrite => ({
  id: randomUUID(),
  rank: 0,
  patched: sentStartBit,
  writes: [randomUUID().replaceAll(/\D/g, '').slice(0, 15)],
  start_time: at(startMs),
  metadata: '{}',
  fields: { session_id, name: 'run' },
});

let rank = 1;

const moved = (run: TraceWrite, startMs: number): TraceWrite => ({
  ...run,
  rank: ++rank,
  patched: startTimeBit | sentStartBit,
  writes: [randomUUID().replaceAll(/\D/g, '').slice(0, 15)],
  start_time: at(startMs),
  fields: {},
});

const store = (tenant_id: string, runs: readonly TraceWrite[]): Promise<boolean> =>
  traceStorage(database).ingest(tenant_id, runs, [], daysKept);

/** The scope of an export that is created now. */
const made = async (scope: RowScope): Promise<RowScope> => {
  const [row] = await sql<{ now: string }>(database, `select ${exactTime('clock_timestamp()')} as now`);
  return { ...scope, inserted_until: row!.now };
};

const newScope = (more: Partial<RowScope> = {}): RowScope =>
  scopeOf({ tenant_id: randomUUID(), session_id: randomUUID(), ...more });

const shape = { ...defaultShape, fields: ['id', 'start_time'] as const };

const idsIn = async (files: readonly WrittenFile[]): Promise<unknown[]> => {
  const contents = await Promise.all(files.map((file) => folder.read(file)));
  return contents.flatMap(({ rows }) => rows.map((row) => row['id']));
};

describe('a trace run whose start time changes during an export', () => {
  it.each([
    ['without a filter', null],
    ['with a filter', parseFilter('eq(name, "run")')],
  ])('is in the files once, %s', async (_, condition) => {
    let scope = newScope({ condition });
    const [first, second, third, fourth] = [0, 10_000, 20_000, 30_000].map((ms) =>
      runOf(scope.session_id, today + ms),
    ) as [TraceWrite, TraceWrite, TraceWrite, TraceWrite];
    await store(scope.tenant_id, [first, second, third, fourth]);
    scope = await made(scope);
    const limits = { ...defaultLimits, pageRows: 1, fileBytes: 1 };
    const files = [await folder.write({ scope, shape, limits })];
    files.push(await folder.write({ scope, shape, limits, after: files[0]!.last }));
    // A row that was written moves after the cursor, and a row that was not written moves before it.
    await store(scope.tenant_id, [moved(first, today + 25_000), moved(third, today + 5_000)]);
    const rest = { scope, shape, limits: defaultLimits, after: files[1]!.last };
    files.push(await folder.write(rest));
    expect(await idsIn(files.map((file) => file!))).toEqual(
      [first, second, third, fourth].map(({ id }) => id),
    );
    // The statistics of a file are those of its values.
    expect(files[2]).toMatchObject({ min_start_time: at(today + 5_000), max_start_time: at(today + 30_000) });
  });

  it('is read once, whatever changes at whatever time', async () => {
    const pages = exportRows(database);
    // Days with a partition, and one without.
    const place = fc.record({
      day: fc.constantFrom(0, -1, -900),
      ms: fc.nat(40).map((step) => step * 1_000),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(place, { minLength: 1, maxLength: 12 }),
        fc.array(
          fc.record({ which: fc.nat(11), ms: fc.nat(40).map((step) => step * 1_000), page: fc.nat(12) }),
          { maxLength: 20 },
        ),
        async (places, moves) => {
          let scope = newScope();
          const runs = places.map(({ day, ms }) => runOf(scope.session_id, today + day * dayMs + ms));
          await store(scope.tenant_id, runs);
          scope = await made(scope);
          const found: string[] = [];
          let next: RowPlace | null = null;
          for (let number = 0; number === 0 || next !== null; number++) {
            for (const { which, ms } of moves.filter((move) => move.page === number)) {
              const index = which % runs.length;
              const day = today + (places[index]?.day ?? 0) * dayMs;
              await store(scope.tenant_id, [moved(runs[index]!, day + ms)]);
            }
            const limits = { rows: 1, bytes: 1_000_000 };
            const request = { scope, fields: ['id'] as const, after: next, upTo: null, limits };
            const page: ExportPage = await pages.page(request, () => undefined);
            if (page.last) found.push(page.last.id);
            next = page.next;
          }
          expect(found).toHaveLength(runs.length);
          expect(new Set(found)).toEqual(new Set(runs.map(({ id }) => id)));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("is in the window of its start at the export's creation, and in no other", async () => {
    const scope = newScope({ since: at(today), until: at(today + 10_000) });
    const run = runOf(scope.session_id, today + 1_000);
    await store(scope.tenant_id, [run]);
    const before = await made(scope);
    await store(scope.tenant_id, [moved(run, today + 15_000)]);
    await store(scope.tenant_id, [moved(run, today + 5_000)]);
    await store(scope.tenant_id, [moved(run, today + 16_000)]);
    const after = await made(scope);
    const next = { since: at(today + 10_000), until: at(today + 20_000) };
    const isIn = async (one: RowScope): Promise<boolean> =>
      (await idsIn(await folder.writeAll({ scope: one, shape }))).length === 1;
    expect(await isIn(before)).toBe(true);
    expect(await isIn({ ...before, ...next })).toBe(false);
    expect(await isIn(after)).toBe(false);
    expect(await isIn({ ...after, ...next })).toBe(true);
  });

  it('is in no export that was created before its start was known', async () => {
    const run = { ...runOf(randomUUID(), today), start_time: null, patched: 0 };
    const scope = newScope({ session_id: String(run.fields.session_id) });
    await store(scope.tenant_id, [run]);
    const before = await made(scope);
    await store(scope.tenant_id, [moved(run, today + 5_000)]);
    await store(scope.tenant_id, [moved(run, today + 6_000)]);
    expect(await folder.writeAll({ scope: before, shape })).toEqual([]);
    expect(await idsIn(await folder.writeAll({ scope: await made(scope), shape }))).toEqual([run.id]);
  });

  it('leaves no rows behind once no export needs them', async () => {
    const place = await newPlace(database);
    const run = runOf(place.session_id, today);
    await store(place.tenant_id, [run]);
    const export_id = await newExport(database, place);
    await store(place.tenant_id, [moved(run, today + 1_000)]);
    const left = async (): Promise<number> =>
      (await sql(database, 'select id from trace_moves where id = $1', [run.id])).length;
    const partitions = tracePartitionStorage(database);
    const ago = async (table: string, column: string): Promise<unknown> =>
      sql(database, `update ${table} set ${column} = ${column} - interval '2 hours' where tenant_id = $1`, [
        place.tenant_id,
      ]);
    await partitions.deleteMoves(1_000);
    expect(await left()).toBe(1);
    await ago('exports', 'created_at');
    await ago('trace_moves', 'moved_at');
    await partitions.deleteMoves(1_000);
    expect(await left()).toBe(1);
    await exportStorage(database).cancel(place.tenant_id, export_id);
    await partitions.deleteMoves(1_000);
    expect(await left()).toBe(0);
  });
});
