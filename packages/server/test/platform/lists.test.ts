// Lists of runs compared with the same list computed in memory, page by page.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultAnswerLimits } from '../../src/storage/postgres/answer-limits.ts';
import type { TraceRunListFilter } from '../../src/storage/tracing/trace-search.ts';
import { traceStorage, type TraceWrite, type TraceStorage } from '../../src/storage/tracing/traces.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { scaled } from '../speed.ts';

let database: TestDatabase;
let traces: TraceStorage;
beforeAll(async () => {
  database = await testDatabase();
  traces = traceStorage(database);
});
afterAll(() => database[Symbol.asyncDispose]());

interface Listed {
  id: string;
  start_time: string;
  session_id: string;
  trace_id: string;
  parent_run_id: string | null;
  inputs: string;
}

const day = 86_400_000;
const projects = [randomUUID(), randomUUID()];
const roots = [randomUUID(), randomUUID()];

/** Most within the retention period, some long before and some after; several at the same time. */
const ago = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 20 }).map((days) => days * day) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 40 * day }) },
  { weight: 1, arbitrary: fc.constantFrom(-20_000 * day, 20_000 * day, 700 * day) },
);

const listed = fc.record({
  ago,
  project: fc.nat(1),
  root: fc.nat(1),
  isRoot: fc.boolean(),
  inputBytes: fc.constantFrom(2, 500, 5_000),
});

const toWrite = ({ id, start_time, ...fields }: Listed): TraceWrite => ({
  id,
  rank: 0,
  patched: 0,
  writes: ['1'],
  start_time,
  metadata: '{}',
  fields,
});

const inOrder = (a: Listed, b: Listed): number =>
  a.start_time === b.start_time ? (a.id < b.id ? 1 : -1) : a.start_time < b.start_time ? 1 : -1;

describe('a list of runs', () => {
  it(
    'has every matching run once, in order, with any page size',
    async () => {
      const now = Date.now();
      await fc.assert(
        fc.asyncProperty(
          fc.array(listed, { maxLength: 30 }),
          fc.record({
            project: fc.option(fc.subarray(projects, { minLength: 1 }), { nil: null }),
            trace: fc.option(fc.constantFrom(...roots), { nil: null }),
            is_root: fc.option(fc.boolean(), { nil: null }),
            since: fc.option(ago, { nil: null }),
            until: fc.option(ago, { nil: null }),
            order: fc.constantFrom('asc', 'desc'),
          }),
          // Page sizes in bytes: enough for one run, for a few, or for all.
          fc.constantFrom(1, 3_000, 12_000, 1e9),
          // Steps of days with one statement each, or ranges of a few runs; all at once, or one at a time.
          fc.record({
            statementMs: fc.constantFrom(0, 10_000),
            stretch: fc.integer({ min: 1, max: 8 }),
            budgetMs: fc.constantFrom(0, 60_000),
          }),
          fc.integer({ min: 1, max: 10 }),
          async (generated, query, pageBytes, limits, limit) => {
            const bounded = traceStorage(database, { ...defaultAnswerLimits, pageBytes });
            const tenant_id = randomUUID();
            const at = (ms: number | null): string | null =>
              ms === null ? null : new Date(now - ms).toISOString().replace('Z', '000Z');
            const runs = generated.map(({ ago: ms, project, root, isRoot, inputBytes }) => ({
              id: randomUUID(),
              start_time: at(ms) ?? '',
              session_id: projects[project] ?? '',
              trace_id: roots[root] ?? '',
              parent_run_id: isRoot ? null : (roots[root] ?? ''),
              inputs: `"${'x'.repeat(inputBytes - 2)}"`,
            }));
            await traces.ingest(tenant_id, runs.map(toWrite), [], 30);
            const [since, until] = [at(query.since), at(query.until)];
            const wanted = runs
              .filter(
                (run) =>
                  (query.project === null || query.project.some((project) => project === run.session_id)) &&
                  (query.trace === null || query.trace === run.trace_id) &&
                  (query.is_root === null || query.is_root === (run.parent_run_id === null)) &&
                  (since === null || run.start_time >= since) &&
                  (until === null || run.start_time <= until),
              )
              .toSorted((a, b) => (query.order === 'desc' ? inOrder(a, b) : inOrder(b, a)));
            const found: string[] = [];
            for (let after: TraceRunListFilter['after'] = null; ;) {
              const filter = {
                tenant_id,
                session_ids: query.project,
                trace_id: query.trace,
                is_root: query.is_root,
                since,
                until,
                filter: null,
                trace_filter: null,
                tree_filter: null,
                order: query.order,
                columns: null,
                after,
                limit,
              };
              const { rows, stopped, stretch, isCut } = await bounded.search(filter, limits);
              found.push(...rows.map((row) => row.id));
              if (isCut) expect([rows.length === 0, stopped === null]).toEqual([false, false]);
              const bytes = rows.reduce((sum, row) => sum + (row.inputs?.length ?? 0), 0);
              if (rows.length > 1) expect(bytes).toBeLessThanOrEqual(pageBytes);
              const last = rows.at(-1);
              if (stopped === null && (rows.length < limit || !last?.start_time)) break;
              const next = stopped ?? { id: last!.id, start_time: last!.start_time!, stretch };
              expect(next).not.toEqual(after);
              after = next;
            }
            expect(found).toEqual(wanted.map((run) => run.id));
          },
        ),
        { numRuns: 60 },
      );
    },
    scaled(120_000),
  );
});
