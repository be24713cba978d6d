// Filters in SQL compared with the same filters in memory, on random runs and filters.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EvaluatedRun, holds } from './evaluate-filter.ts';
import { defaultAnswerLimits } from '../../src/storage/postgres/answer-limits.ts';
import { toExactJson, toExactText } from '../../src/storage/postgres/exact-text.ts';
import type { TraceRunCondition } from '../../src/storage/tracing/trace-condition.ts';
import type { TraceRunListFilter } from '../../src/storage/tracing/trace-search.ts';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { parseFilter } from '../../src/tracing/filter/parse-filter.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';
import { scaled } from '../speed.ts';
import { traceWrite } from './trace-write.ts';

const database = fixture(() => testDatabase());
const traces = fixture(() => traceStorage(database));

/** Few distinct values, so that filters match runs; some with special characters. */
const word = fc.constantFrom(
  'a',
  'A',
  'ab',
  'b c',
  '%',
  '_',
  '5',
  '5.0',
  'true',
  'é',
  '"',
  '\\',
  '\0',
  '𝒳',
  '',
);

const key = fc.constantFrom('a', 'b', 'thread_id', 'k"', 'ключ');
const ids = Array.from({ length: 4 }, (_, index) => `00000000-0000-4000-8000-00000000000${index}`);
const id = fc.constantFrom(...ids);
const runType = fc.constantFrom('llm', 'chain', 'tool');
const count = fc.constantFrom(0, 1, 5, 1_000);
const cost = fc.constantFrom('0', '0.1', '0.10000000000000000001', '5');
const times = ['2026-11-19T08:00:00.000000Z', '2026-11-19T08:00:05.000000Z', '2026-11-19T08:00:05.000001Z'];
const time = fc.constantFrom(...times);
const scalar = fc.oneof(word, count, fc.constantFrom(-1.5, 0.1), fc.boolean(), fc.constant(null));

const json = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.dictionary(key, scalar, { maxKeys: 2 }) },
);

const entries = fc.dictionary(key, json, { maxKeys: 3 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });

const payload = maybe(fc.oneof(entries, json)).map((value) =>
  value === null ? null : JSON.stringify(value),
);

const run = fc.record({
  trace_id: id,
  parent_run_id: maybe(id),
  reference_example_id: maybe(id),
  name: maybe(word),
  run_type: maybe(runType),
  error: maybe(word),
  model: maybe(word),
  inputs: payload,
  outputs: payload,
  start_time: time,
  end_time: maybe(time),
  first_token_time: maybe(time),
  prompt_tokens: maybe(count),
  completion_tokens: maybe(count),
  total_tokens: maybe(count),
  prompt_cost: maybe(cost),
  completion_cost: maybe(cost),
  total_cost: maybe(cost),
  tags: maybe(fc.array(word, { maxLength: 2 })),
  metadata: entries,
  feedback: fc.array(fc.record({ key, score: maybe(cost), value: maybe(json) }), { maxLength: 2 }),
});

type MadeRun = EvaluatedRun & { id: string; start_time: string };

const threadOf = (metadata: Record<string, unknown>): string | null => {
  const value = metadata['thread_id'];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
};

const toRun = (made: Omit<MadeRun, 'id' | 'status' | 'thread_id'>): MadeRun => ({
  ...made,
  id: randomUUID(),
  thread_id: threadOf(made.metadata),
  status: made.error !== null ? 'error' : made.end_time !== null ? 'success' : 'pending',
});

const asText = (value: string | number | null): string | null =>
  value === null ? null : toExactText(String(value));

const toWrite = (made: MadeRun): TraceWrite => {
  const {
    id: run_id,
    start_time,
    metadata,
    tags,
    feedback: _,
    status,
    thread_id,
    inputs,
    outputs,
    ...rest
  } = made;
  expect(status).toBeDefined();
  expect(thread_id).not.toBeUndefined();
  return {
    id: run_id,
    rank: 0,
    patched: 0,
    writes: ['1'],
    start_time,
    metadata: toExactJson(metadata),
    fields: {
      ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, asText(value)])),
      session_id: ids[0] ?? null,
      inputs,
      outputs,
      tags: tags === null ? null : toExactJson(tags),
    },
  };
};

const quoted = (text: string): string => JSON.stringify(text);
const order = fc.constantFrom('eq', 'neq', 'gt', 'gte', 'lt', 'lte');
const equality = fc.constantFrom('eq', 'neq');
const call = (op: string, ...of: string[]): string => `${op}(${of.join(', ')})`;

const list = (of: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(of, { maxLength: 3 }).map((values) => `[${values.join(', ')}]`);

const nullable = fc.constantFrom(
  'name',
  'error',
  'model',
  'end_time',
  'first_token_time',
  'latency',
  'total_tokens',
  'total_cost',
  'inputs',
  'thread_id',
  'parent_run_id',
  'reference_example',
);

const literal = fc.oneof(
  word.map(quoted),
  count.map(String),
  fc.constantFrom('true', 'false', '-1.5', '0.1'),
);

const textField = fc.constantFrom('name', 'error', 'model', 'thread_id', 'run_type', 'status');
const idField = fc.constantFrom('id', 'trace_id', 'parent_run_id', 'reference_example');
const numberField = fc.constantFrom('prompt_tokens', 'total_tokens', 'prompt_cost', 'total_cost');
const timeField = fc.constantFrom('start_time', 'end_time', 'first_token_time');
const textValue = fc.oneof(word, runType, fc.constantFrom('error', 'success', 'pending')).map(quoted);

const pattern = fc
  .array(fc.constantFrom('a', 'b', ' ', '%', '_', '\\', 'é'), { maxLength: 4 })
  .map((all) => quoted(all.join('')));

const keyTest = (name: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.tuple(equality, key).map(([op, value]) => call(op, name, quoted(value))),
    list(key.map(quoted)).map((values) => call('in', name, values)),
  );

const valueTest = (name: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.tuple(equality, literal).map(([op, value]) => call(op, name, value)),
    list(literal).map((values) => call('in', name, values)),
    pattern.map((value) => call('like', name, value)),
    word.map((value) => call('search', name, quoted(value))),
    fc
      .tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte'), count)
      .map(([op, value]) => call(op, name, String(value))),
  );

const scoreTest = fc
  .tuple(fc.constantFrom('eq', 'gt', 'gte', 'lt', 'lte'), cost)
  .map(([op, value]) => call(op, 'feedback_score', value));

const entryFilter = fc.constantFrom('metadata', 'input', 'output', 'feedback').chain((name) =>
  fc.oneof(
    keyTest(`${name}_key`),
    valueTest(`${name}_value`),
    fc
      .tuple(keyTest(`${name}_key`), valueTest(`${name}_value`), ...(name === 'feedback' ? [scoreTest] : []))
      .map((parts) => call('and', ...parts)),
  ),
);

const leaf = fc.oneof(
  fc.tuple(equality, nullable).map(([op, field]) => call(op, field, 'null')),
  nullable.map((field) => call('exists', field)),
  fc.tuple(equality, textField, textValue).map((parts) => call(...parts)),
  fc.tuple(textField, list(textValue)).map(([field, values]) => call('in', field, values)),
  fc.tuple(textField, pattern).map(([field, value]) => call('like', field, value)),
  fc
    .tuple(fc.constantFrom('search', 'contain'), fc.constantFrom('name', 'error', 'inputs', 'outputs'), word)
    .map(([op, field, value]) => call(op, field, quoted(value))),
  word.map((value) => call('search', quoted(value))),
  fc.tuple(equality, idField, id).map(([op, field, value]) => call(op, field, quoted(value))),
  fc.tuple(idField, list(id.map(quoted))).map(([field, values]) => call('in', field, values)),
  fc.tuple(order, numberField, cost).map((parts) => call(...parts)),
  fc
    .tuple(order, fc.constant('latency'), fc.constantFrom('5', '"5s"', '"1us"', '0', '-1', '"5000ms"'))
    .map((parts) => call(...parts)),
  fc.tuple(order, timeField, time).map(([op, field, value]) => call(op, field, quoted(value))),
  fc.tuple(equality, fc.constantFrom('true', 'false')).map(([op, value]) => call(op, 'is_root', value)),
  fc.constantFrom('eq(error, true)', 'neq(error, true)', 'eq(execution_order, 1)', 'and()', 'or()'),
  word.map((value) => call('has', 'tags', quoted(value))),
  entries.map((value) => call('has', 'metadata', quoted(JSON.stringify(value)))),
  entryFilter,
);

const { filter } = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(tie('filter'), { maxLength: 3 }).map((of) => call('or', ...of)) },
    { weight: 1, arbitrary: tie('filter').map((of) => call('not', of)) },
    // Pairs get an `and` of their own: conditions beside them would apply to the same entry.
    {
      weight: 1,
      arbitrary: fc
        .array(tie('filter'), { maxLength: 3 })
        .map((of) => call('and', ...of.map((inner) => call('or', inner)))),
    },
  ),
}));

const found = async (tenant_id: string, condition: TraceRunCondition): Promise<string[]> => {
  const filter: TraceRunListFilter = {
    tenant_id,
    session_ids: null,
    trace_id: null,
    is_root: null,
    since: null,
    until: null,
    filter: condition,
    trace_filter: null,
    tree_filter: null,
    order: 'asc',
    after: null,
    limit: 1_000,
    columns: new Set(),
  };
  // As one statement, and in ranges of a few runs.
  const { rows } = await traces.search(filter, { budgetMs: 60_000 });
  const inStretches = await traces.search(filter, { budgetMs: 60_000, statementMs: 0, stretch: 7 });
  expect(inStretches.rows).toEqual(rows);
  return rows.map((row) => row.id).toSorted();
};

const addFeedback = {
  name: 'test_feedback',
  text: `insert into feedback (tenant_id, id, run_id, key, score, value, feedback_source)
    values ($1, gen_random_uuid(), $2, $3, $4, $5, '{}')`,
};

describe('a filter', () => {
  it(
    'finds the same runs in SQL as in memory',
    async () => {
      let hits = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(run, { minLength: 1, maxLength: 8 }),
          fc.array(filter, { minLength: 1, maxLength: 25 }),
          async (made, filters) => {
            const tenant_id = randomUUID();
            await database.query(
              {
                name: 'test_workspace',
                text: `insert into workspaces (id, display_name) values ($1, 'test')`,
              },
              [tenant_id],
            );
            const runs = made.map(toRun);
            await traces.ingest(tenant_id, runs.map(toWrite), [], 30);
            for (const one of runs)
              for (const { key: about, score, value } of one.feedback)
                await database.query(addFeedback, [
                  tenant_id,
                  one.id,
                  about,
                  score,
                  value === null ? null : toExactJson(value),
                ]);
            for (const text of filters) {
              const condition = parseFilter(text);
              const wanted = runs.filter((one) => holds(condition, one)).map((one) => one.id);
              expect(await found(tenant_id, condition), text).toEqual(wanted.toSorted());
              if (wanted.length > 0 && wanted.length < runs.length) hits++;
            }
          },
        ),
        { numRuns: Number(process.env['SVC_FILTER_ROUNDS'] ?? 60) },
      );
      // Filters that always or never match would prove nothing.
      expect(hits).toBeGreaterThan(50);
    },
    scaled(300_000),
  );
});

// Lists of runs compared with the same list computed in memory, page by page.

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

const toListedWrite = ({ id, start_time, ...fields }: Listed): TraceWrite =>
  traceWrite(start_time, fields, { id });

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
            await traces.ingest(tenant_id, runs.map(toListedWrite), [], 30);
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
