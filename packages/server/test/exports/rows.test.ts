// Which rows are in which file, and in what order.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RowScope, WrittenFile } from '../../src/exports/parquet/export-file.ts';
import { parseFilter } from '../../src/tracing/filter/parse-filter.ts';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { openFolder, scopeOf, defaultLimits, defaultShape, type ExportFolder } from './files.ts';

let database: TestDatabase;
let folder: ExportFolder;
beforeAll(async () => {
  database = await testDatabase();
  folder = await openFolder(database);
});
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const now = Date.now();
const dayMs = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const at = (ms: number, micros = 0): string =>
  `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;

const runOf = (session_id: string, start_time: string, fields: TraceWrite['fields'] = {}): TraceWrite => ({
  id: randomUUID(),
  rank: 0,
  patched: 0,
  writes: ['1'],
  start_time,
  metadata: '{}',
  fields: { session_id, ...fields },
});

const store = (tenant_id: string, runs: readonly TraceWrite[]): Promise<boolean> =>
  traceStorage(database).ingest(tenant_id, runs, [], 400);

const newScope = (more: Partial<RowScope> = {}): RowScope =>
  scopeOf({ tenant_id: randomUUID(), session_id: randomUUID(), ...more });

const idsIn = async (files: readonly WrittenFile[]): Promise<unknown[]> => {
  const contents = await Promise.all(files.map((file) => folder.read(file)));
  expect(contents.map(({ rows }) => rows.length)).toEqual(files.map((file) => file.rows));
  return contents.flatMap(({ rows }) => rows.map((row) => row['id']));
};

const inOrder = (a: TraceWrite, b: TraceWrite): number => {
  const [one, other] = [`${a.start_time} ${a.id}`, `${b.start_time} ${b.id}`];
  return one < other ? -1 : one > other ? 1 : 0;
};

const fields = ['id', 'start_time', 'inputs'] as const;
const shape = { ...defaultShape, fields };

describe('the files of an export partition run', () => {
  it('contain each row once, in order, with any page and file sizes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            // Within days that have partitions, and long before them.
            ago: fc.constantFrom(0, 1, 3 * dayMs, 3 * dayMs + 1, 700 * dayMs),
            micros: fc.nat(2),
            chars: fc.constantFrom(0, 10, 1_000, 5_000),
          }),
          { maxLength: 40 },
        ),
        fc.record({
          fileBytes: fc.constantFrom(1, 1_500, 6_000, 1e6),
          pageRows: fc.integer({ min: 1, max: 12 }),
          pageBytes: fc.constantFrom(1, 2_000, 1e6),
        }),
        async (generated, limits) => {
          const scope = newScope();
          const runs = generated.map(({ ago, micros, chars }) =>
            runOf(scope.session_id, at(now - ago, micros), { inputs: JSON.stringify('x'.repeat(chars)) }),
          );
          await store(scope.tenant_id, runs);
          const files = await folder.writeAll({ scope, shape, limits: { ...defaultLimits, ...limits } });
          expect(await idsIn(files)).toEqual(runs.toSorted(inOrder).map((run) => run.id));
          // Only the last file is marked as last, and no other is smaller than the limit.
          expect(files.map((file) => file.is_last)).toEqual(
            files.map((_, index) => index === files.length - 1),
          );
          for (const file of files.slice(0, -1))
            expect(file.raw_bytes).toBeGreaterThanOrEqual(limits.fileBytes);
          // A second write of the same range has the same rows.
          const [first, second] = files;
          if (second === undefined) return;
          const again = await folder.write({ scope, shape, after: first?.last ?? null, upTo: second.last });
          expect(again).toMatchObject({ rows: second.rows, last: second.last });
          expect(await idsIn(again ? [again] : [])).toEqual(await idsIn([second]));
        },
      ),
      { numRuns: 12 },
    );
  });

  it('include the first microseconds of a day when the span ends there', async () => {
    const midnight = Date.parse(`${dayOf(now)}T00:00:00Z`);
    const scope = newScope({ since: at(midnight), until: at(midnight, 500) });
    const runs = [0, 499, 500].map((micros) => runOf(scope.session_id, at(midnight, micros)));
    await store(scope.tenant_id, runs);
    const files = await folder.writeAll({ scope, shape });
    expect(await idsIn(files)).toEqual(runs.slice(0, 2).map((run) => run.id));
  });

  it('contain each of 10,000 rows of one microsecond once', async () => {
    const scope = newScope();
    const runs = Array.from({ length: 10_000 }, () => runOf(scope.session_id, at(now, 7)));
    await store(scope.tenant_id, runs);
    const limits = { ...defaultLimits, pageRows: 999, fileBytes: 100_000 };
    const files = await folder.writeAll({ scope, shape, limits });
    expect(files.length).toBeGreaterThan(1);
    expect(await idsIn(files)).toEqual(runs.toSorted(inOrder).map((run) => run.id));
    const [first, last] = [files[0], files.at(-1)];
    expect([first?.min_start_time, last?.max_start_time]).toEqual([at(now, 7), at(now, 7)]);
  });

  it('contain the trace runs that started on their day, to the microsecond', async () => {
    const day = Date.parse(`${dayOf(now - 3 * dayMs)}T00:00:00Z`);
    const scope = newScope({ since: at(day), until: at(day + dayMs) });
    const times = [at(day - 1, 999), at(day), at(day + dayMs - 1, 999), at(day + dayMs)];
    const runs = times.map((time) => runOf(scope.session_id, time));
    await store(scope.tenant_id, runs);
    expect(await idsIn(await folder.writeAll({ scope, shape }))).toEqual([runs[1]?.id, runs[2]?.id]);
    // A day without a partition.
    const far = { ...scope, since: '1970-01-01T00:00:00.000000Z', until: '1970-01-02T00:00:00.000000Z' };
    const old = [
      '1969-12-31T23:59:59.999999Z',
      '1970-01-01T00:00:00.000000Z',
      '1970-01-01T23:59:59.999999Z',
    ].map((time) => runOf(scope.session_id, time));
    await store(scope.tenant_id, old);
    expect(await idsIn(await folder.writeAll({ scope: far, shape }))).toEqual([old[1]?.id, old[2]?.id]);
  });

  it('omit later rows and rows of other projects and workspaces', async () => {
    const scope = newScope();
    const other = { ...scope, session_id: randomUUID() };
    const run = runOf(scope.session_id, at(now));
    await store(scope.tenant_id, [run, runOf(other.session_id, at(now))]);
    await store(randomUUID(), [runOf(scope.session_id, at(now))]);
    const [{ until } = { until: '' }] = await database.query<{ until: string }>(
      {
        name: '',
        text: `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as until`,
      },
      [],
    );
    await store(scope.tenant_id, [runOf(scope.session_id, at(now - 1))]);
    const files = await folder.writeAll({ scope: { ...scope, inserted_until: until }, shape });
    expect(await idsIn(files)).toEqual([run.id]);
  });

  it('do not change with rows that are stored while they are written', async () => {
    const scope = newScope();
    const runs = Array.from({ length: 2_000 }, (_, index) => runOf(scope.session_id, at(now + index)));
    await store(scope.tenant_id, runs);
    const [{ until } = { until: '' }] = await database.query<{ until: string }>(
      {
        name: '',
        text: `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as until`,
      },
      [],
    );
    let isWriting = true;
    const storing = (async () => {
      while (isWriting)
        await store(
          scope.tenant_id,
          [0, 500, 1_999].map((index) => runOf(scope.session_id, at(now + index, 1))),
        );
    })();
    const limits = { ...defaultLimits, pageRows: 100, fileBytes: 20_000 };
    const files = await folder.writeAll({ scope: { ...scope, inserted_until: until }, shape, limits });
    isWriting = false;
    await storing;
    expect(await idsIn(files)).toEqual(runs.map((run) => run.id));
  });

  it('contain the rows that match their filter, and no file is empty', async () => {
    const scope = newScope();
    const runs = Array.from({ length: 300 }, (_, index) =>
      runOf(scope.session_id, at(now + index), { name: index % 100 === 0 ? `it's "odd" \\` : 'even' }),
    );
    await store(scope.tenant_id, runs);
    const filtered = (text: string): RowScope => ({ ...scope, condition: parseFilter(text) });
    const odd = filtered(String.raw`eq(name, "it's \"odd\" \\")`);
    const limits = { ...defaultLimits, fileBytes: 1 };
    const files = await folder.writeAll({ scope: odd, shape, limits });
    expect(await idsIn(files)).toEqual([0, 100, 200].map((index) => runs[index]?.id));
    expect(files.map((file) => file.is_last)).toEqual([false, false, true]);
    expect(await folder.write({ scope: filtered('eq(name, "none")'), shape })).toBe(undefined);
    expect(await folder.names()).not.toContainEqual(expect.stringContaining('spill'));
  });
});
