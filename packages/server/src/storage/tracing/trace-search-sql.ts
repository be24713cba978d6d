// Statements of a search of trace runs by time: the rows of a stretch of the list, and the end of a stretch.
import { boundedSql, type FoundTraceRun } from './bounded-trace-runs.ts';
import { type Statement, statement } from '../postgres/statement.ts';
import { exactTime } from '../postgres/exact-text.ts';
import { type Bind } from './trace-condition-sql.ts';
import type { PayloadColumn } from './trace-row.ts';
import { type TraceRunScope, scopeSql } from './trace-scope.ts';

/** The position of a trace run in the list. */
export interface TraceRunPosition {
  /** ISO 8601 with microseconds. */
  start_time: string;
  id: string;
}

/** A span of days; null for an open end. */
export interface DaySpan {
  /** Its first day. */
  from: string | null;
  /** The day after its last. */
  to: string | null;
}

/** The part of the list that one statement reads. */
export interface Stretch {
  days: DaySpan;
  /** Exclusive start. */
  after: TraceRunPosition | null;
  /** Inclusive end. */
  upTo: TraceRunPosition | null;
}

/** Limits of the result of one statement. */
export interface Bounds {
  limit: number;
  /** Bytes of payloads. */
  bytesMax: number;
}

export interface SearchedTraceRuns extends TraceRunScope {
  order: 'asc' | 'desc';
  /** Payloads to read; others are null. Null reads all. */
  columns: ReadonlySet<PayloadColumn> | null;
}

type Query<Row> = [Statement<Row>, unknown[]];

/** Conditions on `r`: for daily partitions (`near`), and for the partition of out-of-range starts (`far`) within the span. */
const daysSql = (
  { from, to }: DaySpan,
  { since, until }: TraceRunScope,
  bind: Bind,
): { near: string; far: string } => {
  const [first, end] = [from === null ? '' : bind(from), to === null ? '' : bind(to)];
  const near = [
    first === '' ? `r.day >= '1000-01-01'` : `r.day >= ${first}::date`,
    ...(end === '' ? [] : [`r.day < ${end}::date`]),
    ...(since === null ? [] : [`r.day >= (${bind(since)}::timestamptz at time zone 'utc')::date`]),
    ...(until === null ? [] : [`r.day <= (${bind(until)}::timestamptz at time zone 'utc')::date`]),
  ];
  const far = [
    `r.day = '-infinity' and r.start_time is not null`,
    ...(first === '' ? [] : [`r.start_time >= ${first}::date`]),
    ...(end === '' ? [] : [`r.start_time < ${end}::date`]),
  ];
  return { near: near.join(' and '), far: far.join(' and ') };
};

const placesSql = ({ after, upTo }: Stretch, order: SearchedTraceRuns['order'], bind: Bind): string[] => {
  const isUp = order === 'asc';
  const place = ({ start_time, id }: TraceRunPosition): string =>
    `(${bind(start_time)}::timestamptz, ${bind(id)}::uuid)`;
  return [
    ...(after ? [`(r.start_time, r.id) ${isUp ? '>' : '<'} ${place(after)}`] : []),
    ...(upTo ? [`(r.start_time, r.id) ${isUp ? '<=' : '>='} ${place(upTo)}`] : []),
  ];
};

/** The trace runs of a stretch that are in scope, for `readRuns`. */
export const stretchRowsSql = (
  filter: SearchedTraceRuns,
  stretch: Stretch,
  { limit, bytesMax }: Bounds,
): Query<FoundTraceRun> => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { tenant, joins, conditions, isPlain } = scopeSql(filter, bind);
  const all = [...conditions, ...placesSql(stretch, filter.order, bind)].join(' and ');
  const order = `r.start_time ${filter.order}, r.id ${filter.order}`;
  const first = `order by ${order} limit ${bind(limit)}`;
  const { near, far } = daysSql(stretch.days, filter, bind);
  const part = (days: string): string => {
    const found = (what: string): string =>
      `(select ${what} from tenant_runs r ${joins} where ${days} and ${all} ${first})`;
    if (joins === '') return found('*');
    // The conditions may be checked for many rows, of which few are read: the index on time is sufficient for the check.
    return `(select r.* from ${found('r.id, r.day')} found cross join lateral (
      select * from tenant_runs r where r.tenant_id = ${tenant} and r.id = found.id and r.day = found.day and ${days} limit 1) r)`;
  };
  const text = boundedSql({
    runs: `select * from (${part(near)} union all ${part(far)}) r ${first}`,
    order,
    columns: filter.columns,
    bytesMax: bind(bytesMax),
  });
  // Only a frequent statement is prepared, so that its plan is cached.
  const isFrequent = isPlain && filter.columns === null && stretch.upTo === null;
  return [isFrequent ? statement(text) : { text }, values];
};

/** The ids of projects with trace runs in these days, by a loose scan of the index on time; also of deleted projects. */
export const projectsSql = (
  filter: SearchedTraceRuns,
  days: DaySpan,
  limit: number,
): Query<{ id: string }> => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { near, far } = daysSql(days, { ...filter, since: null, until: null }, bind);
  const tenant = bind(filter.tenant_id);
  const first = (when: string, after: string): string =>
    `(select r.session_id as id from tenant_runs r where r.tenant_id = ${tenant}::uuid and ${when} and r.session_id ${after}
      order by r.session_id limit 1)`;
  const walk = (name: string, when: string): string => `${name} as (
      ${first(when, 'is not null')} union all
      select n.id from ${name} p cross join lateral ${first(when, '> p.id')} n)`;
  const text = `with recursive ${walk('near', near)}, ${walk('far', far)}
    select id from (select id from near union select id from far) p limit ${bind(limit)}`;
  return [{ text }, values];
};

/**
 * The end of a stretch that has at least `count` trace runs of one of the projects, and at most `count` of each: the first position
 * in the list that is the `count`th of a project. No row when no project has that many. Reads only the index on time.
 */
export const stretchEndSql = (
  filter: SearchedTraceRuns & { session_ids: string[] },
  stretch: Stretch,
  count: number,
): Query<TraceRunPosition> => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { tenant_id, session_ids, since, until, order } = filter;
  const conditions = [
    `r.tenant_id = ${bind(tenant_id)}::uuid and r.session_id = s.id`,
    ...(since === null ? [] : [`r.start_time >= ${bind(since)}`]),
    ...(until === null ? [] : [`r.start_time <= ${bind(until)}`]),
    ...placesSql(stretch, order, bind),
  ].join(' and ');
  const { near, far } = daysSql(stretch.days, filter, bind);
  const inOrder = (of: string): string => `order by ${of}.start_time ${order}, ${of}.id ${order}`;
  const part = (days: string): string =>
    `(select r.start_time, r.id from tenant_runs r where ${days} and ${conditions} ${inOrder('r')} limit ${bind(count)})`;
  const text = `select ${exactTime('last.start_time')} as start_time, last.id
    from unnest(${bind(session_ids)}::uuid[]) s (id) cross join lateral (
      select r.start_time, r.id from (${part(near)} union all ${part(far)}) r ${inOrder('r')} offset ${bind(count - 1)} limit 1) last
    ${inOrder('last')} limit 1`;
  return [{ text }, values];
};
