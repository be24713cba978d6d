// Stored sums of trace runs, per project and hour, so that sums over many days need not read all trace runs.
// A batch records which hours it has changed, and a changed hour is counted again from its trace runs. Sums are never incremented, so merges
// and repeated writes in any order leave them correct.
import type { Database, Transactions } from '../postgres/database.ts';
import { asTenant } from '../postgres/tenant.ts';
import {
  costColumns,
  type Intervals,
  intervalSql,
  type IntervalSums,
  secondsSql,
  tokenColumns,
  type TraceRunSums,
} from './trace-run-sums.ts';
import type { Bind } from './trace-condition-sql.ts';
import type { TraceRunScope } from './trace-scope.ts';
import { type Statement, statement } from '../postgres/statement.ts';

/** A histogram: counts of values on the scale of trace_step(), in ascending order. */
interface Steps {
  steps: number[];
  counts: number[];
}

/** Times are null without values. */
interface Histograms {
  latency: Steps | null;
  first_token: Steps | null;
}

type Row<Sums> = Omit<Sums, 'latency_p50' | 'latency_p99' | 'first_token_p50' | 'first_token_p99'> &
  Histograms;

const countNames = ['run_count', 'error_count', ...tokenColumns];
const counts = countNames.map((column) => `token_sum(sum(${column})) as ${column}`).join(', ');
const costs = costColumns.map((column) => `sum(${column})::text as ${column}`).join(', ');

const times = ['latency', 'first_token'];

const stepsOf = (what: string): string => `(
  select json_build_object('steps', coalesce(json_agg(step order by step), '[]'), 'counts', coalesce(json_agg(runs order by step), '[]'))
  from (select step, sum(runs) as runs from parts cross join lateral unnest(${what}_steps, ${what}_runs) u (step, runs) group by step) s)`;

/** The histogram of each interval. */
const stepsByInterval = (what: string): string => `(
  select begins, json_build_object('steps', json_agg(step order by step), 'counts', json_agg(runs order by step)) as ${what}
  from (select begins, step, sum(runs) as runs from parts cross join lateral unnest(${what}_steps, ${what}_runs) u (step, runs)
    group by begins, step) s group by begins) ${what}_steps`;

/**
 * Stored hours that have not changed since; and counts made now: changed hours, partial hours at both ends, and trace runs in the
 * partition of out-of-range starts (`far`). An hour that is neither stored nor changed has no trace runs.
 */
const partsSql = (begins: string, far: string): string => `with span as (
      select coalesce($3::timestamptz, '-infinity') as since, coalesce($4::timestamptz + interval '1 microsecond', 'infinity') as before
    ), changed as (
      select c.session_id, c.hour from trace_hour_changes c cross join span
      where c.tenant_id = $1 and c.session_id = any ($2::uuid[]) and c.hour >= trace_hour_of(span.since) and c.hour < span.before
      union
      select session_id, trace_hour_of(span.since) from unnest($2::uuid[]) session_id cross join span
      where span.since > trace_hour_of(span.since)
      union
      select session_id, trace_hour_of(span.before) from unnest($2::uuid[]) session_id cross join span
      where span.before > trace_hour_of(span.before)
    ), parts as (
      select ${begins}h.* from trace_hours h cross join span
      where h.tenant_id = $1 and h.session_id = any ($2::uuid[]) and h.hour >= span.since and h.hour + interval '1 hour' <= span.before
        and not exists (select from changed c where c.session_id = h.session_id and c.hour = h.hour)
      union all
      select ${begins}h.* from changed c cross join span cross join lateral count_trace_runs($1, c.session_id,
        (c.hour at time zone 'utc')::date, greatest(c.hour, span.since), least(c.hour + interval '1 hour', span.before)) h
      union all
      ${far}
    )`;

export const statements = {
  sum: statement<Row<TraceRunSums>>(`${partsSql(
    '',
    `select h.* from unnest($2::uuid[]) session_id cross join span
      cross join lateral count_trace_runs($1, session_id, '-infinity', span.since, span.before) h`,
  )}
    select ${counts}, ${costs}, max(last_run_start_time) as last_run_start_time, ${times.map((what) => `${stepsOf(what)} as ${what}`).join(', ')}
    from parts`),
  fold: statement<{ count: number }>(
    `select fold_trace_hours($1::integer * interval '1 second', $2) as count`,
  ),
};

/** One row for each interval that has trace runs. Intervals are whole numbers of hours. */
const toIntervalStatement = (intervals: Intervals, bind: Bind): Statement<Row<IntervalSums>> => {
  const { beginOf, endOf } = intervalSql(intervals, bind);
  // Only intervals that have such trace runs are counted.
  const far = `select f.begins, h.* from (
        select distinct r.session_id, ${beginOf('r.start_time')} as begins from tenant_runs r cross join span
        where r.tenant_id = $1 and r.session_id = any ($2::uuid[]) and r.day = '-infinity' and r.start_time >= span.since
          and r.start_time < span.before) f cross join span
      cross join lateral count_trace_runs($1, f.session_id, '-infinity', greatest(f.begins, span.since),
        least(${endOf('f.begins')}, span.before)) h`;
  return statement(`${partsSql(`${beginOf('h.hour')} as begins, `, far)}
    select ${['at', ...countNames, ...costColumns, ...times].join(', ')}
    from (select begins, ${secondsSql('begins')} as at, ${counts}, ${costs} from parts group by begins) sums
    ${times.map((what) => `left join ${stepsByInterval(what)} using (begins)`).join(' ')}`);
};

type HourScope = TraceRunScope & { session_ids: string[] };

/** True when the scope has only conditions on projects and times. */
export const isByHour = (scope: TraceRunScope): scope is HourScope => {
  const { session_ids, trace_id, is_root, filter, trace_filter, tree_filter } = scope;
  const more = [trace_id, is_root, filter, trace_filter, tree_filter];
  return session_ids !== null && more.every((requested) => requested === null);
};

/** True when each interval is made of whole hours. */
export const isWholeHours = ({ seconds }: Intervals): boolean => seconds % 3_600 === 0;

const valuesOf = ({ tenant_id, session_ids, since, until }: HourScope): unknown[] => [
  tenant_id,
  [...new Set(session_ids)],
  since,
  until,
];

const toSums = <T extends Histograms>({ latency, first_token, ...sums }: T) => ({
  ...sums,
  latency_p50: percentile(latency, 0.5),
  latency_p99: percentile(latency, 0.99),
  first_token_p50: percentile(first_token, 0.5),
  first_token_p99: percentile(first_token, 0.99),
});

/** Percentiles have an error of at most 1 %. */
export const sumHours = async (db: Transactions, scope: HourScope): Promise<TraceRunSums> => {
  const [row] = await asTenant(db, scope.tenant_id, (tx) => tx.query(statements.sum, valuesOf(scope)));
  if (row === undefined) throw new Error('The statement returned no row');
  return toSums(row);
};

/** Sums of the intervals that have trace runs. The intervals have to be whole hours; percentiles have an error of at most 1 %. */
export const sumHourIntervals = async (
  db: Transactions,
  scope: HourScope,
  intervals: Intervals,
): Promise<IntervalSums[]> => {
  const values = valuesOf(scope);
  const statement = toIntervalStatement(intervals, (value) => `$${values.push(value)}`);
  const rows = await asTenant(db, scope.tenant_id, (tx) => tx.query(statement, values));
  return rows.map(toSums);
};

const ratio = 1.02;
/** The step of one second. */
const unitStep = 1_000;

/** The value of a step with the smallest relative error. */
const valueOf = (step: number): number =>
  step === 0 ? 0 : (Math.sign(step) * 2 * ratio ** (Math.abs(step) - unitStep)) / (ratio + 1);

/** Interpolates between the two nearest values, as percentile_cont does. */
const percentile = (histogram: Steps | null, share: number): number | null => {
  const { steps, counts: runs } = histogram ?? { steps: [], counts: [] };
  const total = runs.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const place = share * (total - 1);
  const at = (rank: number): number => {
    let seen = 0;
    const index = runs.findIndex((count) => (seen += count) > rank);
    return valueOf(steps[index] ?? 0);
  };
  const [low, high] = [at(Math.floor(place)), at(Math.ceil(place))];
  return low + (high - low) * (place - Math.floor(place));
};

export type TraceHourStorage = ReturnType<typeof traceHourStorage>;

export const traceHourStorage = (db: Database) => ({
  /** Stores the sums of at most `limit` changed hours without a change for `quietSeconds`. Returns how many. */
  async fold(quietSeconds: number, limit: number): Promise<number> {
    return (await db.query(statements.fold, [quietSeconds, limit]))[0]?.count ?? 0;
  },
});
