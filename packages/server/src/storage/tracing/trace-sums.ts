// Sums over trace runs of a scope, and over the trace runs of threads.
import type { TraceThread } from '@svc/contract';
import type { Transactions } from '../postgres/database.ts';
import { exactTime, fromExactText, toExactText } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import {
  costColumns,
  costSums,
  type Intervals,
  intervalSql,
  type IntervalSums,
  secondsSql,
  tokenColumns,
  type TraceRunSums,
} from './trace-run-sums.ts';
import type { Bind } from './trace-condition-sql.ts';
import { isByHour, isWholeHours, sumHourIntervals, sumHours } from './trace-hours.ts';
import { scopeSql, type TraceRunScope } from './trace-scope.ts';
import { statement, type Statement } from '../postgres/statement.ts';
import type { TraceRunRow } from './trace-row.ts';

/** Above this number of trace runs, stored hours are added up where possible. */
const exactRunsMax = 10_000;

export type ThreadSums = Omit<TraceThread, 'notice'>;

/** The median and the 99th percentile. */
type Percentiles = [number, number] | null;
const none = [null, null] as const;

const seconds = (from: string, to: string): string => `date_part('epoch', ${to} - ${from})`;

/**
 * Each token is counted once: when a model call is nested in another one (a wrapper), only the outer one counts, since it includes the
 * inner one.
 */
const tokenSums = tokenColumns
  .map((column) => `token_sum(sum(${column}) filter (where is_counted)) as ${column}`)
  .join(', ');

/** Join condition for an enclosing model call in the project that has counted the tokens; the same as in count_trace_runs(). */
const isCaller = `p.tenant_id = $1 and p.id = r.parent_run_id and p.session_id = r.session_id and r.run_type = 'llm'
  and p.run_type = 'llm' and p.total_tokens is not null and p.day in (r.day, r.day - 1, '-infinity')
  and r.start_time between trace_calls_from(p.start_time) and trace_calls_until(p.start_time, p.end_time)`;

const counted = `r.run_type = 'llm' and p.id is null`;

/** With `intervals`, one row for each interval that has trace runs; otherwise one row. */
const toSumStatement = (scope: TraceRunScope, intervals?: Intervals): [Statement<never>, unknown[]] => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { joins, conditions, isPlain } = scopeSql(scope, bind);
  const interval = intervals && intervalSql(intervals, bind);
  // Roots have no enclosing call.
  const caller = scope.is_root === true ? 'false' : `${isCaller}${callersOf(scope, bind)}`;
  const begins = interval ? `${interval.beginOf('r.start_time')} as begins,` : '';
  const figures = `count(*) as run_count, count(*) filter (where is_error) as error_count,
      percentile_cont(array[0.5, 0.99]) within group (order by latency) as latency,
      percentile_cont(array[0.5, 0.99]) within group (order by first_token) as first_token,
      ${tokenSums}, ${costSums}`;
  const runs = `(select ${begins} r.run_type, r.status = 'error' as is_error, r.start_time, ${seconds('r.start_time', 'r.end_time')} as latency,
        ${seconds('r.start_time', 'r.first_token_time')} as first_token, r.prompt_tokens, r.completion_tokens, r.total_tokens,
        r.prompt_cost, r.completion_cost, r.total_cost, ${counted} as is_counted
      from tenant_runs r ${joins} left join tenant_runs p on ${caller}
      where ${conditions.join(' and ')} and r.start_time is not null${daysOf(scope, bind)}) runs`;
  const text = interval
    ? `select ${secondsSql('begins')} as at, ${figures} from ${runs} group by begins`
    : `select ${figures}, max(start_time) as last_run_start_time from ${runs}`;
  // The statement of a trace is prepared, so that its plan is cached. Without a trace the number of rows depends on the values: the cached plan
  // expects few, looks up the enclosing call of each, and takes up to five times as long.
  return [isPlain && scope.trace_id !== null ? statement(text) : { text }, values];
};

/** Restricts the partitions to those that can contain the starts. */
const daysOf = ({ since, until }: TraceRunScope, bind: Bind): string => daySql('r', since, until, bind, 0);

/** Restricts the enclosing calls, so that fewer rows are read: a call of the day before must still be running. */
const callersOf = ({ session_ids, since, until }: TraceRunScope, bind: Bind): string =>
  [
    session_ids ? ` and p.session_id = any (${bind(session_ids)}::uuid[])` : '',
    since === null ? '' : ` and trace_calls_until(p.start_time, p.end_time) >= ${bind(since)}::timestamptz`,
    daySql('p', since, until, bind, 1),
  ].join('');

const daySql = (
  run: string,
  since: string | null,
  until: string | null,
  bind: Bind,
  daysBefore: number,
): string => {
  const days = [
    ...(since === null
      ? []
      : [`${run}.day >= (${bind(since)}::timestamptz at time zone 'utc')::date - ${daysBefore}`]),
    ...(until === null ? [] : [`${run}.day <= (${bind(until)}::timestamptz at time zone 'utc')::date`]),
  ];
  return days.length === 0 ? '' : ` and (${run}.day = '-infinity' or (${days.join(' and ')}))`;
};

/** Characters of a payload that are read for a preview. */
export const previewedMax = 65_536;

export const ofThreads = statement<ThreadSums>(`with runs as (
      select r.thread_id, r.id, r.day, r.trace_id, r.parent_run_id, r.run_type, r.start_time, r.end_time, r.status = 'error' as is_error,
        r.prompt_tokens, r.completion_tokens, r.total_tokens, r.prompt_cost, r.completion_cost, r.total_cost, ${counted} as is_counted
      from tenant_runs r
      -- The limits, here and below, keep a lookup per row: PostgreSQL cannot estimate the size of threads, and joins would read whole days.
      left join lateral (select p.id from tenant_runs p where ${isCaller} limit 1) p on true
      where r.tenant_id = $1 and r.session_id = $2 and r.thread_id = any ($3::text[]) and r.start_time is not null
        and ($4::timestamptz is null or r.start_time >= $4) and ($5::timestamptz is null or r.start_time <= $5)
    ), sums as (
      select thread_id, count(distinct coalesce(trace_id, id)) as count, count(*) as run_count,
        count(*) filter (where is_error and parent_run_id is null) as num_errored_turns,
        percentile_cont(0.5) within group (order by ${seconds('start_time', 'end_time')}) filter (where parent_run_id is null) as latency_p50,
        percentile_cont(0.99) within group (order by ${seconds('start_time', 'end_time')}) filter (where parent_run_id is null) as latency_p99,
        min(start_time) as min_start_time, max(start_time) as max_start_time, ${tokenSums}, ${costSums},
        array_agg(distinct trace_id) as trace_ids, min(day) filter (where isfinite(day)) - 1 as from_day,
        max(day) filter (where isfinite(day)) + 1 as to_day,
        (array_agg(row(id, day)::run_ref order by parent_run_id is not null, start_time, id))[1] as first_run,
        (array_agg(row(id, day)::run_ref order by parent_run_id is not null, start_time desc, id desc))[1] as last_run,
        (array_agg(row(id, day)::run_ref order by start_time desc, id desc) filter (where is_error))[1] as last_failed
      from runs group by thread_id
    )
    select s.thread_id, s.count, s.run_count, s.num_errored_turns, s.latency_p50, s.latency_p99, s.min_start_time, s.max_start_time,
      s.prompt_tokens, s.completion_tokens, s.total_tokens, s.prompt_cost, s.completion_cost, s.total_cost,
      coalesce(f.trace_id, f.id) as first_trace_id, coalesce(l.trace_id, l.id) as last_trace_id,
      left(f.inputs, ${previewedMax} + 1) as first_inputs, left(l.outputs, ${previewedMax} + 1) as last_outputs,
      left(e.error, 1000) as last_error,
      (select count(*) from tenant_runs r where r.tenant_id = $1 and r.trace_id = any (s.trace_ids) and r.thread_id is null
        and (r.day = '-infinity' or r.day between s.from_day and s.to_day)) as runs_without_thread_id
    from sums s
    cross join lateral (select r.id, r.trace_id, r.inputs from tenant_runs r
      where r.tenant_id = $1 and r.id = (s.first_run).id and r.day = (s.first_run).day limit 1) f
    cross join lateral (select r.id, r.trace_id, r.outputs from tenant_runs r
      where r.tenant_id = $1 and r.id = (s.last_run).id and r.day = (s.last_run).day limit 1) l
    left join lateral (select r.error from tenant_runs r
      where r.tenant_id = $1 and r.id = (s.last_failed).id and r.day = (s.last_failed).day limit 1) e on true
    order by s.max_start_time desc, s.thread_id`);

type Row<Sums> = Omit<Sums, 'latency_p50' | 'latency_p99' | 'first_token_p50' | 'first_token_p99'> & {
  latency: Percentiles;
  first_token: Percentiles;
};

const toSums = <T extends { latency: Percentiles; first_token: Percentiles }>({
  latency,
  first_token,
  ...sums
}: T) => {
  const [latency_p50, latency_p99] = latency ?? none;
  const [first_token_p50, first_token_p99] = first_token ?? none;
  return { ...sums, latency_p50, latency_p99, first_token_p50, first_token_p99 };
};

/** Percentiles are exact. */
export const sumTraceRuns = async (db: Transactions, scope: TraceRunScope): Promise<TraceRunSums> => {
  const [summing, values] = toSumStatement(scope);
  const [row] = await asTenant(db, scope.tenant_id, (tx) => tx.query<Row<TraceRunSums>>(summing, values));
  if (row === undefined) throw new Error('The statement returned no row');
  return toSums(row);
};

/** Sums of the intervals that have trace runs. Percentiles are exact. */
export const sumTraceRunIntervals = async (
  db: Transactions,
  scope: TraceRunScope,
  intervals: Intervals,
): Promise<IntervalSums[]> => {
  const [summing, values] = toSumStatement(scope, intervals);
  const rows = await asTenant(db, scope.tenant_id, (tx) => tx.query<Row<IntervalSums>>(summing, values));
  return rows.map(toSums);
};

export interface ThreadSpan {
  tenant_id: string;
  session_id: string;
  since: string | null;
  until: string | null;
}

export const traceSums = (db: Transactions) => ({
  /** Exact, except for percentiles of more than `exactRunsMax` trace runs, which have an error of at most 1 %. */
  async sum(scope: TraceRunScope): Promise<TraceRunSums> {
    const byHour = isByHour(scope) ? await sumHours(db, scope) : undefined;
    return byHour !== undefined && byHour.run_count > exactRunsMax ? byHour : sumTraceRuns(db, scope);
  },

  /** The same for each interval that has trace runs. */
  async sumIntervals(scope: TraceRunScope, intervals: Intervals): Promise<IntervalSums[]> {
    const byHour =
      isByHour(scope) && isWholeHours(intervals) ? await sumHourIntervals(db, scope, intervals) : [];
    const runs = byHour.reduce((sum, { run_count }) => sum + run_count, 0);
    return runs > exactRunsMax ? byHour : sumTraceRunIntervals(db, scope, intervals);
  },

  /** Texts are in their exact form. Newest thread first. */
  sumThreads: (span: ThreadSpan, thread_ids: string[]): Promise<ThreadSums[]> =>
    asTenant(db, span.tenant_id, (tx) => {
      const { tenant_id, session_id, since, until } = span;
      const values = [tenant_id, session_id, thread_ids.map(toExactText), since, until];
      return tx.query(ofThreads, values);
    }),

  /** The threads that have a trace run in scope at or before this position of the list. */
  threadsBefore: (
    scope: TraceRunScope,
    thread_ids: string[],
    place: { start_time: string; id: string },
  ): Promise<string[]> =>
    asTenant(db, scope.tenant_id, async (tx) => {
      const values: unknown[] = [];
      const bind = (value: unknown): string => `$${values.push(value)}`;
      const { joins, conditions } = scopeSql(scope, bind);
      conditions.push(
        `r.thread_id = any (${bind(thread_ids.map(toExactText))}::text[])`,
        `(r.start_time, r.id) >= (${bind(place.start_time)}::timestamptz, ${bind(place.id)}::uuid)`,
        `(r.day = '-infinity' or r.day >= (${bind(place.start_time)}::timestamptz at time zone 'utc')::date)`,
      );
      const text = `select distinct r.thread_id from tenant_runs r ${joins} where ${conditions.join(' and ')}`;
      const rows = await tx.query<{ thread_id: string }>({ text }, values);
      return rows.map((row) => fromExactText(row.thread_id));
    }),
});

// Totals of a trace for its root: each token of a model is counted once, and every cost.

export const totalColumns = [...tokenColumns, ...costColumns];

/** Tokens are null when no trace run has any, likewise costs. `first_token_time`: the earliest of the trace. */
export type TraceTotals = Pick<TraceRunRow, (typeof totalColumns)[number] | 'first_token_time'> & {
  trace_id: string;
};

/** A model call nested in another one (a wrapper) is not counted, since the outer one includes it. */
const isCounted = `r.run_type = 'llm' and not exists (select from tenant_runs p
  where p.tenant_id = $1 and p.id = r.parent_run_id and p.trace_id = r.trace_id and p.run_type = 'llm'
    and p.total_tokens is not null and p.day in (r.day, r.day - 1, '-infinity') offset 0)`;

const tokens = tokenColumns.map(
  (column) =>
    `case when count(${column}) filter (where is_counted) > 0 then token_sum(sum(${column}) filter (where is_counted)) end as ${column}`,
);

export const ofTraces =
  statement<TraceTotals>(`select trace_id, ${[...tokens, costSums].join(', ')}, ${exactTime('min(first_token_time)')} as first_token_time
    from (select r.trace_id, r.run_type, r.prompt_tokens, r.completion_tokens, r.total_tokens, r.prompt_cost, r.completion_cost,
        r.total_cost, r.first_token_time, ${isCounted} as is_counted
      from tenant_runs r where r.tenant_id = $1 and r.trace_id = any ($2::uuid[])
        and (r.total_tokens is not null or r.total_cost is not null or r.prompt_cost is not null or r.completion_cost is not null
          or r.first_token_time is not null)
        and (r.day = '-infinity' or $3::timestamptz is null or r.day >= ($3 at time zone 'utc')::date - 1)) runs
    group by trace_id`);

export const traceTotals = (db: Transactions) => ({
  /** Totals of the traces that have any. `since`: start of the earliest trace; null when unknown. */
  totalsOf: (tenant_id: string, trace_ids: string[], since: string | null): Promise<TraceTotals[]> =>
    asTenant(db, tenant_id, (tx) => tx.query(ofTraces, [tenant_id, trace_ids, since])),
});

// Turns of threads: the roots that have the id of a thread.

export interface ThreadExtent {
  threads: number;
  turns: number;
  first_start_time: string | null;
  last_start_time: string | null;
  last_end_time: string | null;
}

const inThread = 'r.thread_id is not null and r.start_time is not null';

export const numbers = statement<{ id: string; turn: number }>(`select id, turn from (
      select r.id, row_number() over (order by r.start_time, r.id) as turn from tenant_runs r
      where r.tenant_id = $1 and r.session_id = $2 and r.thread_id = $3 and r.parent_run_id is null and r.start_time is not null) turns
    where id = any ($4::uuid[])`);

const partsOf = (scope: TraceRunScope): { values: unknown[]; from: string } => {
  const values: unknown[] = [];
  const { joins, conditions } = scopeSql(scope, (value) => `$${values.push(value)}`);
  return { values, from: `from tenant_runs r ${joins} where ${conditions.join(' and ')} and ${inThread}` };
};

export const threadTurns = (db: Transactions) => ({
  /** Counts the trace runs of a scope that belong to threads. */
  threadExtent: (scope: TraceRunScope): Promise<ThreadExtent> =>
    asTenant(db, scope.tenant_id, async (tx) => {
      const { values, from } = partsOf(scope);
      const text = `select count(distinct r.thread_id) as threads, count(*) as turns, ${exactTime('min(r.start_time)')} as first_start_time,
        ${exactTime('max(r.start_time)')} as last_start_time, ${exactTime('max(r.end_time)')} as last_end_time ${from}`;
      const [row] = await tx.query<ThreadExtent>({ text }, values);
      if (row === undefined) throw new Error('The statement returned no row');
      return row;
    }),

  /** Ids of the threads with a trace run in the scope, the one with the newest trace run first. `total` counts all of them. */
  newestThreads: (
    scope: TraceRunScope,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<{ ids: string[]; total: number }> =>
    asTenant(db, scope.tenant_id, async (tx) => {
      const { values, from } = partsOf(scope);
      const text = `with threads as (select r.thread_id, max(r.start_time) as newest ${from} group by r.thread_id)
        select (select count(*) from threads) as total, array(select thread_id from threads
          order by newest desc, thread_id limit $${values.push(limit)} offset $${values.push(offset)}) as ids`;
      const [row] = await tx.query<{ ids: string[]; total: number }>({ text }, values);
      if (row === undefined) throw new Error('The statement returned no row');
      return { ids: row.ids.map(fromExactText), total: row.total };
    }),

  /** Positions of these turns in the whole thread, from 1, by id of the root. */
  turnNumbers: (
    tenant_id: string,
    session_id: string,
    thread_id: string,
    ids: string[],
  ): Promise<Map<string, number>> =>
    asTenant(db, tenant_id, async (tx) => {
      const values = [tenant_id, session_id, toExactText(thread_id), ids];
      const rows = await tx.query(numbers, values);
      return new Map(rows.map(({ id, turn }) => [id, turn]));
    }),
});
