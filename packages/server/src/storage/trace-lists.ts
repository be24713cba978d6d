// Runs by time. A project's runs are looked for in the newest days first, in steps that grow, until there are enough: a page
// of what is recent opens one or two partitions, however many there are.
import type { Database, Statement } from './database.ts';
import { asTenant } from './tenant.ts';
import { traceColumns, type TraceRow } from './trace-row.ts';

export interface RunListFilter {
  tenant_id: string;
  session_ids: string[] | null;
  trace_id: string | null;
  is_root: boolean | null;
  /** Not before, and not after. */
  since: string | null;
  until: string | null;
  /** Those that come after this one in the list. */
  after: { start_time: string; id: string } | null;
  limit: number;
}

const statements = {
  byIds: {
    name: 'traces_by_ids',
    text: `select ${traceColumns} from unnest($2::uuid[]) wanted
      cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted) d
      cross join lateral (select * from tenant_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day) r
      order by r.start_time desc, r.id desc limit $3`,
  },
  days: {
    name: 'traces_days',
    text: `select day from trace_days
      where ($1::timestamptz is null or day >= ($1 at time zone 'utc')::date)
        and ($2::timestamptz is null or day <= ($2 at time zone 'utc')::date)
      order by day desc limit 10000`,
  },
};

/** Days between whose ends to look. */
interface Step {
  oldest: string;
  newest: string;
  /** Where the step before ended; null in the first. */
  before: string | null;
  isLast: boolean;
}

/**
 * Only the conditions that are asked for, so that each combination is a statement with a plan of its own. The far partition
 * takes part in every step, with what belongs between its ends.
 */
const toStep = (filter: RunListFilter, step: Step, limit: number): [Statement, unknown[]] => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { session_ids, trace_id, is_root, since, until, after } = filter;
  const shape: string[] = [];
  const conditions = [`r.tenant_id = ${bind(filter.tenant_id)}`];
  const add = (name: string, condition: string): void => {
    shape.push(name);
    conditions.push(condition);
  };
  if (session_ids?.length === 1) add('p', `r.session_id = ${bind(session_ids[0])}`);
  else if (session_ids) add('ps', `r.session_id = any (${bind(session_ids)}::uuid[])`);
  if (trace_id !== null) add('t', `r.trace_id = ${bind(trace_id)}`);
  if (is_root !== null) add(is_root ? 'r' : 'c', `r.parent_run_id is ${is_root ? '' : 'not '}null`);
  if (since !== null) add('s', `r.start_time >= ${bind(since)}`);
  if (until !== null) add('u', `r.start_time <= ${bind(until)}`);
  if (after)
    add('a', `(r.start_time, r.id) < (${bind(after.start_time)}::timestamptz, ${bind(after.id)}::uuid)`);
  const far = [
    ...(step.isLast ? [] : [`r.start_time >= ${bind(step.oldest)}::date`]),
    ...(step.before === null ? [] : [`r.start_time < ${bind(step.before)}::date`]),
  ];
  const [all, most] = [conditions.join(' and '), bind(limit)];
  const order = `order by r.start_time desc, r.id desc limit ${most}`;
  const text = `select ${traceColumns} from (
      (select * from tenant_runs r where r.day between ${bind(step.oldest)} and ${bind(step.newest)} and ${all} ${order})
      union all
      (select * from tenant_runs r where r.day = '-infinity' and r.start_time is not null and ${[all, ...far].join(' and ')} ${order})
    ) r ${order}`;
  const name = ['traces_step', ...shape, far.length, step.isLast ? 'l' : ''].join('_');
  return [{ name, text }, values];
};

const nothingEarlier = '1000-01-01';

export const traceLists = (db: Database) => ({
  listByIds: (tenant_id: string, ids: string[], limit: number): Promise<TraceRow[]> =>
    asTenant(db, tenant_id, (tx) => tx.query<TraceRow>(statements.byIds, [tenant_id, ids, limit])),

  /** Newest first. Runs whose start is not known are in no list. */
  list: (filter: RunListFilter): Promise<TraceRow[]> =>
    asTenant(db, filter.tenant_id, async (tx) => {
      const { since, until, after, limit } = filter;
      const days = await tx.query<{ day: string }>(statements.days, [since, after?.start_time ?? until]);
      const rows: TraceRow[] = [];
      let before: string | null = null;
      for (let at = 0, size = 1; at === 0 || at < days.length; at += size, size *= 2) {
        const newest = days[at]?.day ?? nothingEarlier;
        const isLast = at + size >= days.length;
        const oldest = isLast ? nothingEarlier : (days[at + size - 1]?.day ?? nothingEarlier);
        const [statement, values] = toStep(filter, { oldest, newest, before, isLast }, limit - rows.length);
        rows.push(...(await tx.query<TraceRow>(statement, values)));
        if (rows.length >= limit) break;
        before = oldest;
      }
      return rows;
    }),
});
