// Runs over time: how many were created and ended, and how long they waited and executed.
import type { Database } from '../../postgres/database.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { raw, select, type Sql, sql } from '../../postgres/sql.ts';
import { matches, type RunSearch, statuses } from './run-search.ts';

/** `from` is inclusive and `to` exclusive: ISO 8601. */
export interface FigureSpan {
  from: string;
  to: string;
  intervalSeconds: number;
}

type Percentiles = [p50: number, p95: number] | null;

/** `at`: start of an interval in seconds since 1970. Times are in milliseconds. */
export interface FigurePoint {
  at: number;
  created: number;
  success: number;
  error: number;
  timeout: number;
  interrupted: number;
  wait_ms: Percentiles;
  execution_ms: Percentiles;
}

/**
 * `since`: with more runs than may be examined, the end of the interval in which the last one was examined, in seconds since 1970; null when all
 * were. Intervals without runs have no point.
 */
export interface Figures {
  since: number | null;
  points: FigurePoint[];
}

/** Runs that one statement examines: of those that ended, and of those that were created. */
export const figureRunsMax = 50_000;

const examinedMax = raw(String(figureRunsMax));
/** Milliseconds; null when a time is. */
const between = (from: string, to: string): string =>
  `case when ${to} > ${from} then extract(epoch from ${to} - ${from})::float8 * 1000 when ${to} <= ${from} then 0 end`;
/** The start of the first attempt. */
const firstStart = `coalesce((r.lost_attempts -> 0 ->> 'started_at')::timestamptz, r.started_at)`;
const percentiles = (what: string): Sql =>
  raw(`percentile_cont(array[0.5, 0.95]) within group (order by ${what}) filter (where ${what} is not null)`);
const counted = (status: string): string =>
  `(count(*) filter (where status = '${status}'))::integer as ${status}`;

// The condition of the index runs_settled, which orders ended runs by their end; and runs_by_status, with one range for each status.
const figures = (search: RunSearch, { from, to, intervalSeconds }: FigureSpan, access: RowFilter): Sql => {
  const bucket = (time: string): Sql =>
    sql`(floor(extract(epoch from ${raw(time)}) / ${intervalSeconds}::integer) * ${intervalSeconds}::integer)::float8`;
  // A stateless run is deleted when it ends, or with its log.
  const isMatch = sql`(not r.temporary and ${matches(search, access)}) as is_match`;
  const searched = search.status ?? statuses;
  return sql`with settled as materialized (
      select r.status, r.updated_at as at, ${bucket('r.updated_at')} as bucket, ${isMatch},
        ${raw(between('greatest(r.created_at, r.not_before)', firstStart))} as wait,
        ${raw(between(firstStart, 'r.updated_at'))} as execution
      from runs r
      where r.status <> 'running' and (r.status <> 'pending' or r.lease_token > 0) and r.status = any (${searched}::text[])
        and r.updated_at >= ${from}::timestamptz and r.updated_at < ${to}::timestamptz
      order by r.updated_at desc limit ${examinedMax}
    ), created as materialized (
      select c.* from unnest(${searched}::text[]) s (status) cross join lateral (
        select r.created_at as at, ${bucket('r.created_at')} as bucket, ${isMatch} from runs r
        where r.status = s.status and r.created_at >= ${from}::timestamptz and r.created_at < ${to}::timestamptz
        order by r.created_at desc limit ${examinedMax}) c
      order by c.at desc limit ${examinedMax}
    ), last as (
      select greatest(
        (select min(at) from settled having count(*) = ${examinedMax}),
        (select min(at) from created having count(*) = ${examinedMax})) as at
    ), since as (
      select floor(extract(epoch from at) / ${intervalSeconds}::integer) * ${intervalSeconds}::integer + ${intervalSeconds}::integer as seconds from last
    ), ends as (
      select bucket, ${raw(['success', 'error', 'timeout', 'interrupted'].map(counted).join(', '))},
        ${percentiles('wait')} as wait_ms, ${percentiles('execution')} as execution_ms
      from settled cross join since
      where is_match and settled.status <> 'pending' and settled.bucket >= coalesce(since.seconds, '-infinity') group by bucket
    ), starts as (
      select bucket, count(*)::integer as runs from created cross join since
      where is_match and created.bucket >= coalesce(since.seconds, '-infinity') group by bucket
    )
    select (select seconds::float8 from since) as since, bucket as at, coalesce(runs, 0) as created,
      coalesce(success, 0) as success, coalesce(error, 0) as error, coalesce(timeout, 0) as timeout,
      coalesce(interrupted, 0) as interrupted, wait_ms, execution_ms
    from (select 1) one left join (ends full join starts using (bucket)) on true
    order by bucket`;
};

type FigureRow = { since: number | null } & (FigurePoint | { [Name in keyof FigurePoint]: null });

const isPoint = (row: FigureRow): row is FigureRow & FigurePoint => row.at !== null;

export const runFigures = (db: Database) => ({
  async figures(search: RunSearch, span: FigureSpan, access: RowFilter): Promise<Figures> {
    const rows = await select<FigureRow>(db, figures(search, span, access));
    return { since: rows[0]?.since ?? null, points: rows.filter(isPoint) };
  },
});
