// Stored sums of trace runs, per project and hour, so that sums over many days need not read all trace runs.
import type { Database, Transactions } from '../postgres/database.ts';
import { asTenant } from '../postgres/tenant.ts';
import type { TraceRunScope } from './trace-scope.ts';
import type { TraceRunSums } from './trace-run-sums.ts';

/** A histogram: counts of values on the scale of trace_step(), in ascending order. */
interface Steps {
  steps: number[];
  counts: number[];
}

type HourSums = Omit<
  TraceRunSums,
  'run_count' | 'latency_p50' | 'latency_p99' | 'first_token_p50' | 'first_token_p99'
> & {
  run_count: number;
  latency: Steps;
  first_token: Steps;
};

const counts = ['run_count', 'error_count', 'prompt_tokens', 'completion_tokens', 'total_tokens']
  .map((column) => `token_sum(sum(${column})) as ${column}`)
  .join(', ');
const costs = ['prompt_cost', 'completion_cost', 'total_cost']
  .map((column) => `sum(${column})::text as ${column}`)
  .join(', ');

const stepsOf = (what: string): string => `(
  select json_build_object('steps', coalesce(json_agg(step order by step), '[]'), 'counts', coalesce(json_agg(runs order by step), '[]'))
  from (select step, sum(runs) as runs from parts cross join lateral unnest(${what}_steps, ${what}_runs) u (step, runs) group by step) s)`;

/**
 * Adds up stored hours that have not changed since; and counts now: changed hours, partial hours at both ends, and trace runs in the
 * partition of out-of-range starts. An hour that is neither stored nor changed has no trace runs.
 */
const statements = {
  sum: {
    name: 'trace_hours_sum',
    text: `with span as (
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
      select h.* from trace_hours h cross join span
      where h.tenant_id = $1 and h.session_id = any ($2::uuid[]) and h.hour >= span.since and h.hour + interval '1 hour' <= span.before
        and not exists (select from changed c where c.session_id = h.session_id and c.hour = h.hour)
      union all
      select f.* from changed c cross join span cross join lateral count_trace_runs($1, c.session_id,
        (c.hour at time zone 'utc')::date, greatest(c.hour, span.since), least(c.hour + interval '1 hour', span.before)) f
      union all
      select f.* from unnest($2::uuid[]) session_id cross join span
      cross join lateral count_trace_runs($1, session_id, '-infinity', span.since, span.before) f
    )
    select ${counts}, ${costs}, max(last_run_start_time) as last_run_start_time,
      ${stepsOf('latency')} as latency, ${stepsOf('first_token')} as first_token
    from parts`,
  },
  fold: {
    name: 'trace_hours_fold',
    text: `select fold_trace_hours($1::integer * interval '1 second', $2) as count`,
  },
};

/** True when the scope has only conditions on projects and times. */
export const isByHour = (scope: TraceRunScope): scope is TraceRunScope & { session_ids: string[] } => {
  const { session_ids, trace_id, is_root, filter, trace_filter, tree_filter } = scope;
  const more = [trace_id, is_root, filter, trace_filter, tree_filter];
  return session_ids !== null && more.every((asked) => asked === null);
};

/** Percentiles have an error of at most 1 %. */
export const sumHours = async (
  db: Transactions,
  { tenant_id, session_ids, since, until }: TraceRunScope & { session_ids: string[] },
): Promise<TraceRunSums> => {
  const values = [tenant_id, [...new Set(session_ids)], since, until];
  const [row] = await asTenant(db, tenant_id, (tx) => tx.query<HourSums>(statements.sum, values));
  if (row === undefined) throw new Error('The statement returned no row');
  const { latency, first_token, ...sums } = row;
  return {
    ...sums,
    latency_p50: percentile(latency, 0.5),
    latency_p99: percentile(latency, 0.99),
    first_token_p50: percentile(first_token, 0.5),
    first_token_p99: percentile(first_token, 0.99),
  };
};

const ratio = 1.02;
/** The step of one second. */
const unitStep = 1_000;

/** The value of a step with the smallest relative error. */
const valueOf = (step: number): number =>
  step === 0 ? 0 : (Math.sign(step) * 2 * ratio ** (Math.abs(step) - unitStep)) / (ratio + 1);

/** Interpolates between the two nearest values, as percentile_cont does. */
const percentile = ({ steps, counts: runs }: Steps, share: number): number | null => {
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
    return (await db.query<{ count: number }>(statements.fold, [quietSeconds, limit]))[0]?.count ?? 0;
  },
});
