// The latency of trace queries on a large store; writes bench/queries.md, and prints the plans.
// Usage: npm run bench:queries (SVC_BENCH_RUNS=1000000; SVC_BENCH_DATA_DIR=… keeps the filled store for the next time)
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { toScope } from '../packages/server/src/tracing/traces/run-scope.ts';
import { type SeriesSelection, toSeries } from '../packages/server/src/tracing/traces/trace-service.ts';
import { type Database, openDatabase } from '../packages/server/src/storage/postgres/database.ts';
import { openEmbedded } from '../packages/server/src/storage/embedded/embedded.ts';
import { migrate } from '../packages/server/src/storage/schema/migrate.ts';
import { traceStorage } from '../packages/server/src/storage/tracing/traces.ts';
import { fixed, median } from './report.ts';

const runs = Number(process.env['SVC_BENCH_RUNS'] ?? 1_000_000);
const days = 10;
const runsPerTrace = 10;
const tracesPerThread = 5;
const repeats = 20;

const tenant_id = '5e5bd0f9-3f1e-4a4e-9f0f-0c1d6a1f0b01';
const session_id = '5e5bd0f9-3f1e-4a4e-9f0f-0c1d6a1f0b02';

/**
 * Fills a day with traces of ten runs: a root, eight models below it, and one model below one of these. Each run has about 3 KB of
 * payload, which does not compress to nothing.
 */
const fill = {
  name: '',
  text: `insert into trace_runs (tenant_id, day, id, session_id, trace_id, parent_run_id, name, run_type, dotted_order, start_time, end_time,
      inputs, outputs, metadata, tags, model, prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost,
      error, rank, patched, writes)
    select $1, $3::date, t.id, $2, t.root, case t.step when 0 then null when 3 then t.before else t.root end, case when t.step = 0 then 'agent' else 'ChatModel' end,
      case when t.step = 0 then 'chain' else 'llm' end, to_char(t.at, 'YYYYMMDD"T"HH24MISSUS"Z"') || t.id, t.at, t.at + t.n % 9000 * interval '1 ms',
      '{"messages":[{"role":"user","content":"' || t.text || '"}]}', '{"messages":[{"role":"assistant","content":"' || reverse(t.text) || '"}]}',
      jsonb_build_object('thread_id', 'thread-' || $3::text || '-' || t.n / ${runsPerTrace * tracesPerThread}, 'user_id', 'user-' || t.n / ${runsPerTrace} % 1000,
        'customer', 'c-' || t.n % 20000, 'ls_provider', 'openai', 'langgraph_step', t.step),
      jsonb_build_array('step:' || t.step), 'gpt-x', p, c, p + c, p * 0.000001, c * 0.000002, p * 0.000001 + c * 0.000002,
      case when t.n % 97 = 0 then 'Timeout' end, 0, 0, '{1}'
    from (
      select n, n % ${runsPerTrace} as step, md5($3::text || n)::uuid as id, md5($3::text || n - n % ${runsPerTrace})::uuid as root,
        md5($3::text || n - 1)::uuid as before,
        $3::date + n * (interval '23 hours' / $5::integer) as at,
        (select string_agg(md5(n::text || i), ' ') from generate_series(1, 45) i) as text,
        case when n % ${runsPerTrace} > 0 then 100 + n % 900 end as p, case when n % ${runsPerTrace} > 0 then n % 300 end as c
      from generate_series($4::integer, $4::integer + 9999) n where n < $5::integer
    ) t`,
};

const workspace = {
  name: '',
  text: `insert into workspaces (id, display_name) values ($1, 'bench') on conflict do nothing returning id`,
};

const fillDays = {
  name: '',
  text: 'insert into trace_run_days (tenant_id, id, day) select tenant_id, id, day from trace_runs where day = $1::date',
};

/** Stores the sums of hours that have not changed for a while. */
const fold = { text: `select fold_trace_hours('0', 200) as count` };
const changeAll = {
  name: '',
  text: `insert into trace_hour_changes (tenant_id, session_id, hour)
    select distinct tenant_id, session_id, trace_hour_of(start_time) from trace_runs where day = $1::date`,
};
const change = {
  name: '',
  text: `insert into trace_hour_changes (tenant_id, session_id, hour)
    select $1, $2, h from generate_series(current_date + interval '10 hours', current_date + interval '11 hours', '1 hour') h`,
};

const dayBefore = (count: number): string =>
  new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10);

/** Records the executed statements, so that their plans can be shown. */
const recording = (db: Database, statements: [string, readonly unknown[]][]): Database => ({
  ...db,
  query: (statement, values) => {
    statements.push([statement.text, values]);
    return db.query(statement, values);
  },
  transact: (work) => db.transact((tx) => work(recording(tx, statements))),
});

const planOf = async (db: Database, statements: readonly [string, readonly unknown[]][]): Promise<string> =>
  db.transact(async (tx) => {
    const lines: string[] = [];
    for (const [text, values] of statements) {
      if (!/tenant_runs|trace_hours/.test(text)) {
        await tx.query({ text }, values);
        continue;
      }
      const explain = {
        name: '',
        text: `explain (analyze, costs off, timing off, summary off, buffers off) ${text}`,
      };
      for (const row of await tx.query<{ 'QUERY PLAN': string }>(explain, values))
        lines.push(row['QUERY PLAN']);
    }
    // Only scans that found rows, and joins.
    return lines
      .filter(
        (line) => /Scan|Join|Nested|Limit|Aggregate/.test(line) && !/never executed|rows=0\.00/.test(line),
      )
      .map((line) => line.slice(0, 170))
      .join('\n');
  });

const keptDir = process.env['SVC_BENCH_DATA_DIR'];
const dataDir = keptDir ?? mkdtempSync(join(tmpdir(), 'svc-bench-'));

const fillAll = async (db: Database): Promise<void> => {
  const [known] = await db.query(workspace, [tenant_id]);
  if (!known) return;
  const started = performance.now();
  for (let ago = days - 1; ago >= 0; ago--) {
    const day = dayBefore(ago);
    await db.query({ text: 'select add_trace_days($1::date[])' }, [[day]]);
    for (let from = 0; from < runs / days; from += 10_000)
      await db.query(fill, [tenant_id, session_id, day, from, runs / days]);
    await db.query(fillDays, [day]);
    await db.query(changeAll, [day]);
    await db.script(`vacuum analyze trace_runs_${day.replaceAll('-', '')}`);
    process.stderr.write(`${day}: ${fixed((performance.now() - started) / 1_000, 0)} s\n`);
  }
  await db.script('analyze trace_runs');
};

{
  await using embedded = await openEmbedded({ dataDir });
  await using db = await openDatabase({ connection: embedded.connection });
  await migrate(db);
  await fillAll(db);
  while ((await db.query<{ count: number }>(fold, []))[0]?.count !== 0);
  const statements: [string, readonly unknown[]][] = [];
  const traces = traceStorage(recording(db, statements));
  const page = { order: 'desc', after: null, limit: 100, columns: null } as const;
  const light = { ...page, columns: new Set<never>() };
  const day = dayBefore(3);
  const inDay = { session: [session_id], start_time: `${day}T00:00:00Z`, end_time: `${day}T23:59:59Z` };
  const inWeek = { ...inDay, start_time: `${dayBefore(9)}T00:00:00Z` };
  const series = (selection: SeriesSelection) => {
    const { start_time, end_time, seconds, starts } = toSeries(selection, Date.now());
    const scope = toScope(tenant_id, { ...selection, start_time, end_time });
    return traces.sumIntervals(scope, { first: starts[0] ?? 0, seconds });
  };
  const metadata = 'and(eq(metadata_key, "customer"), eq(metadata_value, "c-77"))';
  const list = (more: object, how: typeof page | typeof light = page) =>
    traces.search(
      { ...toScope(tenant_id, { session: [session_id], ...more }), ...how },
      { budgetMs: 10_000 },
    );
  const thread = `thread-${day}-100`;
  const threads = Array.from({ length: 20 }, (_, index) => `thread-${day}-${100 + index}`);
  const span = { tenant_id, session_id, since: null, until: null };
  const queries: [string, () => Promise<unknown>][] = [
    ['a page of a day, whole', () => list(inDay)],
    ['a page of a day, without payloads', () => list(inDay, light)],
    ['the newest roots', () => list({ is_root: true }, light)],
    ['the runs of a thread', () => list({ filter: `eq(thread_id, "${thread}")` })],
    ['a filter on metadata', () => list({ filter: metadata })],
    [
      'a filter on metadata and errors, on a day',
      () => list({ ...inDay, filter: `and(${metadata}, neq(error, null))` }),
    ],
    ['a filter on latency', () => list({ filter: 'gt(latency, "8.9s")' }, light)],
    ['a filter of the root', () => list({ ...inDay, trace_filter: 'gt(latency, "8.9s")' }, light)],
    [
      'a filter of the root that nothing on a day passes',
      () => list({ ...inDay, trace_filter: 'gt(latency, "1h")' }, light),
    ],
    ['a filter of the tree', () => list({ ...inDay, is_root: true, tree_filter: 'neq(error, null)' }, light)],
    ['the sums of a day', () => traces.sum(toScope(tenant_id, inDay))],
    ['the sums of the models of a day', () => traces.sum(toScope(tenant_id, { ...inDay, run_type: 'llm' }))],
    [
      'the sums of a thread',
      () => traces.sum(toScope(tenant_id, { session: [session_id], filter: `eq(thread_id, "${thread}")` })),
    ],
    ['the sums of 20 threads', () => traces.sumThreads(span, threads)],
    ['the sums of a project', () => traces.sum(toScope(tenant_id, { session: [session_id] }))],
    [
      'the sums of a project of which two hours have just changed',
      async () => {
        await db.query(change, [tenant_id, session_id]);
        return traces.sum(toScope(tenant_id, { session: [session_id] }));
      },
    ],
    ['the figures of a day by half hours', () => series({ ...inDay, interval_seconds: 1_800 })],
    [
      'the figures of the roots of a day by half hours',
      () => series({ ...inDay, is_root: true, interval_seconds: 1_800 }),
    ],
    [
      'the figures of the models of a day by half hours',
      () => series({ ...inDay, run_type: 'llm', interval_seconds: 1_800 }),
    ],
    ['the figures of a week by three hours', () => series({ ...inWeek, interval_seconds: 10_800 })],
    [
      'the figures of the roots of a week by three hours',
      () => series({ ...inWeek, is_root: true, interval_seconds: 10_800 }),
    ],
  ];
  const rows: string[] = [];
  for (const [what, ask] of queries) {
    const times: number[] = [];
    for (let count = 0; count < repeats; count++) {
      statements.length = 0;
      const from = performance.now();
      await ask();
      times.push(performance.now() - from);
    }
    const worst = times.toSorted((a, b) => a - b).at(-2) ?? 0;
    rows.push(`| ${what} | ${fixed(median(times), 1)} ms | ${fixed(worst, 1)} ms |`);
    process.stderr.write(`${rows.at(-1)}\n`);
    process.stderr.write(`${await planOf(db, statements)}\n`);
  }
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  writeFileSync(
    new URL('./queries.md', import.meta.url),
    `# Trace queries

\`npm run bench:queries\` fills the store with ${runs} runs of about 3 KB over ${days} days, in one project, and executes each query ${repeats} times
through the storage layer. The goal is 100 ms.

${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), load ${fixed(loadavg()[1] ?? 0, 0)} over five minutes, other work included.

| question | p50 | p95 |
|---|---|---|
${rows.join('\n')}
`,
  );
}
if (keptDir === undefined) rmSync(dataDir, { recursive: true, force: true });
