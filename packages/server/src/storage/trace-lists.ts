// Runs by time. A project's runs are looked for in the days nearest to the list's beginning first, in steps that grow, until
// there are enough: a page of what is recent opens one or two partitions, however many there are.
import type { AnswerLimits } from './answer-limits.ts';
import type { Database, Statement } from './database.ts';
import { asTenant } from './tenant.ts';
import { payloadBytes, payloadColumns, runColumns, type RunColumn, type TraceRow } from './trace-row.ts';
import { type RunScope, scopeSql } from './trace-scope.ts';

export interface RunListFilter extends RunScope {
  order: 'asc' | 'desc';
  /** Those that come after this one in the list. */
  after: { start_time: string; id: string } | null;
  limit: number;
  /** What is not among them is null; null for all. */
  columns: ReadonlySet<RunColumn> | null;
}

/** Rows with their place, the bytes of the payloads up to there, and their number. */
const bounded = (rows: string, order: string, columns: RunListFilter['columns']): string =>
  `select r.*, row_number() over w as page_n, sum(${payloadBytes(columns)}) over w as page_bytes, count(*) over () as page_found
    from (${rows}) r window w as (order by ${order})`;

export interface RunListPage {
  rows: TraceRow[];
  /** It ended early, since more payloads would exceed its bytes. */
  isCut: boolean;
}

type PageRow = TraceRow & { page_found?: number };

const toPage = (found: PageRow[]): RunListPage => {
  const isCut = found.length < (found[0]?.page_found ?? 0);
  for (const row of found) delete row.page_found;
  return { rows: found, isCut };
};

const byIds = (columns: RunListFilter['columns']): Statement => ({
  name: columns === null ? 'traces_by_ids' : '',
  text: `select ${runColumns(columns)}, r.page_found from (${bounded(
    `select r.* from unnest($2::uuid[]) wanted
      cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted) d
      cross join lateral (select * from tenant_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day) r
      order by r.start_time desc, r.id desc limit $3`,
    'r.start_time desc, r.id desc',
    columns,
  )}) r where r.page_n = 1 or r.page_bytes <= $4 order by r.page_n`,
});

const treeColumns: ReadonlySet<RunColumn> = new Set(['error']);

const statements = {
  tree: {
    name: 'traces_tree',
    text: `select ${runColumns(treeColumns)}, r.page_found from (${bounded(
      `select r.* from tenant_runs r
      where r.tenant_id = $1 and r.trace_id = $2 and (r.day = '-infinity' or r.day >= coalesce(
        (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = $2 and isfinite(d.day)), '1000-01-01') - 1)
      order by r.start_time, r.id limit $3`,
      'r.start_time, r.id',
      treeColumns,
    )}) r where r.page_n = 1 or r.page_bytes <= $4 order by r.page_n`,
  },
  days: {
    name: 'traces_days',
    text: `select day from trace_days
      where ($1::timestamptz is null or day >= ($1 at time zone 'utc')::date)
        and ($2::timestamptz is null or day <= ($2 at time zone 'utc')::date)
      order by day desc limit 10000`,
  },
};

/** A span of days. Its ends are null where it has none. */
interface Step {
  /** Its first day. */
  from: string | null;
  /** The day after its last. */
  to: string | null;
}

/** The far partition takes part in every step, with what belongs between its ends. */
const toStep = (
  filter: RunListFilter,
  { from, to }: Step,
  { limit, bytesMax }: { limit: number; bytesMax: number },
): [Statement, unknown[]] => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const isUp = filter.order === 'asc';
  const { tenant, joins, conditions, shape } = scopeSql(filter, bind);
  if (filter.after)
    conditions.push(
      `(r.start_time, r.id) ${isUp ? '>' : '<'} (${bind(filter.after.start_time)}::timestamptz, ${bind(filter.after.id)}::uuid)`,
    );
  const all = conditions.join(' and ');
  const sorting = `r.start_time ${filter.order}, r.id ${filter.order}`;
  const order = `order by ${sorting} limit ${bind(limit)}`;
  const bytes = bind(bytesMax);
  const [first, end] = [from === null ? '' : bind(from), to === null ? '' : bind(to)];
  const near = [
    first === '' ? `r.day >= '1000-01-01'` : `r.day >= ${first}::date`,
    ...(end === '' ? [] : [`r.day < ${end}::date`]),
    ...(filter.since === null
      ? []
      : [`r.day >= (${bind(filter.since)}::timestamptz at time zone 'utc')::date`]),
    ...(filter.until === null
      ? []
      : [`r.day <= (${bind(filter.until)}::timestamptz at time zone 'utc')::date`]),
  ];
  const far = [
    `r.day = '-infinity' and r.start_time is not null`,
    ...(first === '' ? [] : [`r.start_time >= ${first}::date`]),
    ...(end === '' ? [] : [`r.start_time < ${end}::date`]),
  ];
  const part = (days: string[]): string => {
    const found = (what: string): string =>
      `(select ${what} from tenant_runs r ${joins} where ${days.join(' and ')} and ${all} ${order})`;
    if (joins === '') return found('*');
    // Many are looked at, and few are read: what the index on time has of them is enough to tell.
    return `(select r.* from ${found('r.id, r.day')} found cross join lateral (
      select * from tenant_runs r where r.tenant_id = ${tenant} and r.id = found.id and r.day = found.day and ${days.join(' and ')} limit 1) r)`;
  };
  const found = `select * from (${part(near)} union all ${part(far)}) r ${order}`;
  const text = `select ${runColumns(filter.columns)}, r.page_found from (${bounded(found, sorting, filter.columns)}) r
    where r.page_n = 1 or r.page_bytes <= ${bytes} order by r.page_n`;
  // Only a few shapes are worth a plan that is kept; a filter's comes once.
  const isPlain = shape !== undefined && filter.columns === null;
  const ends = `${first === '' ? '' : 'f'}${end === '' ? '' : 't'}`;
  const name = isPlain ? `traces_step_${filter.order}_${shape}_${filter.after ? 'a' : ''}_${ends}` : '';
  return [{ name, text }, values];
};

const nextDay = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);

/** Spans that follow each other from one end of time to the other; the days are in the order of the list. */
const stepsOf = (days: readonly string[], order: RunListFilter['order']): Step[] => {
  const steps: Step[] = [];
  let edge: string | null = null;
  for (let at = 0, size = 1; at === 0 || at < days.length; at += size, size *= 2) {
    const last = days[at + size - 1];
    const isLast = at + size >= days.length || last === undefined;
    const border: string | null = isLast ? null : order === 'desc' ? last : nextDay(last);
    steps.push(order === 'desc' ? { from: border, to: edge } : { from: edge, to: border });
    edge = border;
  }
  return steps;
};

/** Of its payloads. */
const charsOf = (row: TraceRow): number =>
  payloadColumns.reduce((sum, column) => sum + (row[column]?.length ?? 0), 0);

export const traceLists = (db: Database, { pageBytes }: AnswerLimits) => ({
  listByIds: (tenant_id: string, ids: string[], columns: RunListFilter['columns']): Promise<RunListPage> =>
    asTenant(db, tenant_id, async (tx) =>
      toPage(await tx.query<PageRow>(byIds(columns), [tenant_id, ids, ids.length, pageBytes])),
    ),

  /** All of a trace without payloads but errors, in the order of their starts. */
  tree: (tenant_id: string, trace_id: string, limit: number): Promise<RunListPage> =>
    asTenant(db, tenant_id, async (tx) =>
      toPage(await tx.query<PageRow>(statements.tree, [tenant_id, trace_id, limit, pageBytes])),
    ),

  /** In the order of their starts. Runs whose start is not known are in no list. */
  list: (filter: RunListFilter): Promise<RunListPage> =>
    asTenant(db, filter.tenant_id, async (tx) => {
      const { since, until, after, limit, order } = filter;
      const [oldest, newest] =
        order === 'desc' ? [since, after?.start_time ?? until] : [after?.start_time ?? since, until];
      const found = await tx.query<{ day: string }>(statements.days, [oldest, newest]);
      const days = found.map((row) => row.day);
      const rows: TraceRow[] = [];
      let left = pageBytes;
      for (const step of stepsOf(order === 'desc' ? days : days.toReversed(), order)) {
        const [statement, values] = toStep(filter, step, { limit: limit - rows.length, bytesMax: left });
        const page = toPage(await tx.query<PageRow>(statement, values));
        const bytes = page.rows.reduce((sum, row) => sum + charsOf(row), 0);
        if (rows.length > 0 && bytes > left) return { rows, isCut: true };
        rows.push(...page.rows);
        left -= bytes;
        if (page.isCut) return { rows, isCut: true };
        if (rows.length >= limit) break;
      }
      return { rows, isCut: false };
    }),
});
