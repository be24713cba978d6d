// The statements of a search of runs by time: the rows of a stretch of the list, and where a stretch ends.
import { boundedSql } from './bounded-trace-runs.ts';
import type { Statement } from '../postgres/database.ts';
import { exactTime } from '../postgres/exact-time.ts';
import { type Bind } from './trace-conditions.ts';
import type { RunColumn } from './trace-row.ts';
import { type RunScope, scopeSql } from './trace-scope.ts';

/** The place of a run in the list. */
export interface RunPlace {
  /** ISO 8601 with microseconds. */
  start_time: string;
  id: string;
}

/** A span of days. Its ends are null where it has none. */
export interface DaySpan {
  /** Its first day. */
  from: string | null;
  /** The day after its last. */
  to: string | null;
}

/** What of a list one statement looks at. */
export interface Stretch {
  days: DaySpan;
  /** Runs after this one, in the order of the list. */
  after: RunPlace | null;
  /** Up to and with this one. */
  upTo: RunPlace | null;
}

/** Limits of what one statement returns. */
export interface Bounds {
  limit: number;
  /** Bytes of payloads. */
  bytesMax: number;
}

export interface SearchedRuns extends RunScope {
  order: 'asc' | 'desc';
  /** What is not among them is null; null for all. */
  columns: ReadonlySet<RunColumn> | null;
}

type Query = [Statement, unknown[]];

/** Conditions on `r` for the partitions of days, and for that of runs from far off, with what of it belongs into the span. */
const daysSql = (
  { from, to }: DaySpan,
  { since, until }: RunScope,
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

const placesSql = ({ after, upTo }: Stretch, order: SearchedRuns['order'], bind: Bind): string[] => {
  const isUp = order === 'asc';
  const place = ({ start_time, id }: RunPlace): string =>
    `(${bind(start_time)}::timestamptz, ${bind(id)}::uuid)`;
  return [
    ...(after ? [`(r.start_time, r.id) ${isUp ? '>' : '<'} ${place(after)}`] : []),
    ...(upTo ? [`(r.start_time, r.id) ${isUp ? '<=' : '>='} ${place(upTo)}`] : []),
  ];
};

/** The runs of a stretch that are in scope, to be read with `readRuns`. */
export const stretchRowsSql = (
  filter: SearchedRuns,
  stretch: Stretch,
  { limit, bytesMax }: Bounds,
): Query => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { tenant, joins, conditions, shape } = scopeSql(filter, bind);
  const all = [...conditions, ...placesSql(stretch, filter.order, bind)].join(' and ');
  const order = `r.start_time ${filter.order}, r.id ${filter.order}`;
  const first = `order by ${order} limit ${bind(limit)}`;
  const { near, far } = daysSql(stretch.days, filter, bind);
  const part = (days: string): string => {
    const found = (what: string): string =>
      `(select ${what} from tenant_runs r ${joins} where ${days} and ${all} ${first})`;
    if (joins === '') return found('*');
    // Many are looked at, and few are read: what the index on time has of them is enough to tell.
    return `(select r.* from ${found('r.id, r.day')} found cross join lateral (
      select * from tenant_runs r where r.tenant_id = ${tenant} and r.id = found.id and r.day = found.day and ${days} limit 1) r)`;
  };
  const text = boundedSql({
    runs: `select * from (${part(near)} union all ${part(far)}) r ${first}`,
    order,
    columns: filter.columns,
    bytesMax: bind(bytesMax),
  });
  // Only a few shapes are worth a plan that is kept; a filter's comes once.
  const isPlain = shape !== undefined && filter.columns === null && stretch.upTo === null;
  const ends = `${stretch.days.from === null ? '' : 'f'}${stretch.days.to === null ? '' : 't'}`;
  const name = isPlain ? `traces_step_${filter.order}_${shape}_${stretch.after ? 'a' : ''}_${ends}` : '';
  return [{ name, text }, values];
};

/** The projects of the runs of these days, one after the other along the index on time; those that no table has, too. */
export const projectsSql = (filter: SearchedRuns, days: DaySpan, limit: number): Query => {
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
  return [{ name: '', text }, values];
};

/**
 * Where a stretch ends that has at least `count` runs of one of the projects, and at most so many of each: the first place in
 * the list that is the `count`th of a project. No row when none of them has so many. It reads the index on time alone.
 */
export const stretchEndSql = (
  filter: SearchedRuns & { session_ids: string[] },
  stretch: Stretch,
  count: number,
): Query => {
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
  return [{ name: '', text }, values];
};
