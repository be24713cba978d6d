// The rows of an export: the trace runs of a project in a time span, in the order of (start_time, id), page by page.
//
// The order uses the start_time at the creation of the export. A later patch may move a start across the cursor or out of the span;
// `trace_moves` keeps the earlier start, so the row keeps its place and is read exactly once, whenever the patch comes.
//
// Each page is one statement in a transaction of its own, so nothing is locked while files are written. It reads the index on
// (tenant_id, session_id, start_time, id) from the end of the last page; a merge combines the partitions of the days and the partition
// of out-of-range starts. The end of the page is computed from the lengths of values, which PostgreSQL knows without reading long
// values. The plan with 100,000 rows in ten partitions:
//
//   WindowAgg (storage: memory, 20 kB)
//     Limit
//       Merge Append
//         Index Scan using trace_runs_20261115_tenant_id_session_id_start_time_id_… on trace_runs_20261115
//         Sort (of rows in trace_runs_far, usually none)
//
// A selective filter may match almost nothing. To bound the time of a statement, it is applied to a limited stretch of rows.
import type { ExportField } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { RowBytes } from '../postgres/copy-out.ts';
import type { Transactions } from '../postgres/database.ts';
import { exactTime } from '../postgres/exact-text.ts';
import { exportColumns, isCounted } from './export-columns.ts';
import { literal } from '../postgres/sql.ts';
import type { TraceRunCondition } from '../tracing/trace-condition.ts';
import { asTenant } from '../postgres/tenant.ts';
import { conditionSql } from '../tracing/trace-condition-sql.ts';

/** A row's position in the order of an export: its start_time at the creation of the export, and its id. */
export interface RowPlace {
  /** ISO 8601 with microseconds. */
  start_time: string;
  id: string;
}

/** The rows of a partition run. Times are ISO 8601 with microseconds. */
export interface RowScope {
  tenant_id: string;
  session_id: string;
  /** The partition; its end is exclusive. */
  since: string;
  until: string;
  /** Creation time of the export: rows that were inserted later are not part of it. */
  inserted_until: string;
  condition: TraceRunCondition | null;
}

export interface PageLimits {
  rows: number;
  /** The page ends with the row that reaches this size. */
  bytes: number;
}

export interface ExportPage {
  rows: number;
  /** Length of texts in UTF-8, plus a fixed size for each other value. */
  raw_bytes: number;
  last: RowPlace | null;
  /** Earliest and latest current start_time of the rows. */
  starts: { min: string; max: string } | null;
  /** Position after which the next page begins; null when no row follows. */
  next: RowPlace | null;
}

/** The rows to which a filter is applied in one statement. */
const stretch: PageLimits = { rows: 20_000, bytes: 256 * 1_024 ** 2 };
/** Size that is assumed for values of fixed length. */
const valueBytes = 16;

/** Number of values before the fields in each row: place, id, raw_bytes, has_next, start_time. */
export const exportKeyColumns = 5;

/** The day of the last microsecond before `until`. */
const lastDayOf = (until: string): string => {
  const isMidnight = /T[0:.]+Z$/.test(until);
  return isMidnight ? new Date(Date.parse(until) - 1).toISOString().slice(0, 10) : until.slice(0, 10);
};

/** Selects the rows of a scope after one position and up to another; `expressions` are over `r`. */
const candidates = (
  scope: RowScope,
  {
    after,
    upTo,
    condition,
  }: { after: RowPlace | null; upTo: RowPlace | null; condition: TraceRunCondition | null },
  expressions: string[],
  limit: number,
): string => {
  const { since, until } = scope;
  const place = ({ start_time, id }: RowPlace): string =>
    `(${literal(start_time)}::timestamptz, ${literal(id)}::uuid)`;
  const tenant = `${literal(scope.tenant_id)}::uuid`;
  const madeAt = `${literal(scope.inserted_until)}::timestamptz`;
  /** Conditions on a start and its id. */
  const spanOf = (start: string, id: string): string[] => [
    `${start} >= ${literal(since)}::timestamptz`,
    `${start} < ${literal(until)}::timestamptz`,
    ...(after ? [`(${start}, ${id}) > ${place(after)}`] : []),
    ...(upTo ? [`(${start}, ${id}) <= ${place(upTo)}`] : []),
  ];
  const ofRun = [
    `r.tenant_id = ${tenant}`,
    `r.session_id = ${literal(scope.session_id)}::uuid`,
    `r.inserted_at <= ${madeAt}`,
    ...(condition ? [conditionSql(condition, literal, 'r')] : []),
  ];
  const [firstDay, lastDay] = [since.slice(0, 10), lastDayOf(until)];
  const daysOf = (of: string): string =>
    firstDay === lastDay
      ? `${of}.day = ${literal(firstDay)}::date`
      : `${of}.day between ${literal(firstDay)}::date and ${literal(lastDay)}::date`;
  const sinceMade = (of: string): string => `${of}.tenant_id = ${tenant} and ${of}.moved_at > ${madeAt}`;
  const part = (days: (of: string) => string): string => {
    // Usually no start has moved; the first condition checks that once.
    const stayed = `(not exists (select from trace_moves any_m where ${sinceMade('any_m')} and ${days('any_m')})
      or not exists (select from trace_moves m where ${sinceMade('m')} and m.id = r.id))`;
    return `(select r.*, r.start_time as place from tenant_runs r
      where ${[days('r'), ...ofRun, ...spanOf('r.start_time', 'r.id'), stayed].join(' and ')} order by r.start_time, r.id limit ${limit})`;
  };
  const isFirst = `not exists (select from trace_moves f where ${sinceMade('f')} and f.id = m.id and f.number < m.number)`;
  const moved = (
    days: (of: string) => string,
  ): string => `(select r.*, m.start_time as place from trace_moves m
    cross join lateral (select * from tenant_runs r where r.id = m.id and r.day = m.day
      and ${[days('r'), ...ofRun].join(' and ')} limit 1) r
    where ${[sinceMade('m'), days('m'), ...spanOf('m.start_time', 'm.id'), isFirst].join(' and ')} order by m.start_time, m.id limit ${limit})`;
  const far = (of: string): string => `${of}.day = '-infinity'`;
  const parts = [part(daysOf), part(far), moved(daysOf), moved(far)].join(' union all ');
  return `select ${expressions.join(', ')} from (${parts}) r order by r.place, r.id limit ${limit}`;
};

const byPlace = 'order by r.place, r.id rows unbounded preceding';

const pageSql = (
  scope: RowScope,
  span: { after: RowPlace | null; upTo: RowPlace | null },
  fields: readonly ExportField[],
  limits: PageLimits,
): string => {
  const expressions: string[] = [];
  const counted: string[] = [];
  const values: string[] = [];
  for (const column of fields.map((field) => exportColumns[field])) {
    const sources = column.sql.map((sql) => sql.replaceAll('{tenant}', `${literal(scope.tenant_id)}::uuid`));
    if (column.isLate) {
      values.push(...sources);
      continue;
    }
    for (const source of sources) {
      const name = `v${expressions.length}`;
      expressions.push(`${source} as ${name}`);
      values.push(`r.${name}`);
      if (isCounted(column)) counted.push(`coalesce(octet_length(r.${name}), 0)::bigint`);
    }
  }
  const size = [String(fields.length * valueBytes), ...counted].join(' + ');
  const found = candidates(
    scope,
    { ...span, condition: scope.condition },
    ['r.place', 'r.start_time', 'r.id', 'r.session_id', ...expressions],
    limits.rows + 1,
  );
  return `copy (
    select r.place, r.id::text, r.raw_bytes, r.has_next, r.start_time, ${values.join(', ')} from (
      select r.*, sum(r.size) over w as raw_bytes, lead(true) over w is not null as has_next, row_number() over w as number
      from (select r.*, (${size})::double precision as size from (${found}) r) r window w as (${byPlace})
    ) r where r.number <= ${limits.rows} and r.raw_bytes - r.size < ${limits.bytes} order by r.place, r.id
  ) to stdout (format binary)`;
};

interface Stretch {
  last: RowPlace;
  has_next: boolean;
}

const stretchSql = (scope: RowScope, after: RowPlace | null, upTo: RowPlace | null): string => {
  const size = ['inputs', 'outputs', 'events', 'extra', 'error']
    .map((name) => `coalesce(octet_length(r.${name}), 0)::bigint`)
    .join(' + ');
  const found = candidates(
    scope,
    { after, upTo, condition: null },
    ['r.place', 'r.id', `(${size})::double precision as size`],
    stretch.rows + 1,
  );
  return `select ${exactTime('r.place')} as start_time, r.id, r.has_next from (
      select r.*, sum(r.size) over w as total, lead(true) over w is not null as has_next, row_number() over w as number
      from (${found}) r window w as (${byPlace})
    ) r where r.number <= ${stretch.rows} and r.total - r.size < ${stretch.bytes}
    order by r.place desc, r.id desc limit 1`;
};

const epochMicros = 946_684_800_000_000n; // PostgreSQL's epoch is the year 2000

/** Microseconds since 1970. */
export const microsAt = ({ bytes, ends }: RowBytes, index: number): bigint =>
  bytes.readBigInt64BE((ends[index] ?? 0) - 8) + epochMicros;

/** ISO 8601 with microseconds. */
const timeOf = (micros: bigint): string => {
  const part = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = Number((micros - part) / 1_000_000n);
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(part).padStart(6, '0')}Z`;
};

const placeOf = (row: RowBytes): RowPlace => {
  const end = row.ends[1] ?? 0;
  return { start_time: timeOf(microsAt(row, 0)), id: row.bytes.toString('latin1', end - 36, end) };
};

export interface ExportPageAsked {
  scope: RowScope;
  fields: readonly ExportField[];
  after: RowPlace | null;
  upTo: RowPlace | null;
  limits: PageLimits;
}

export const exportRows = (db: Transactions) => ({
  /** Passes rows to `onRow` as they arrive. A page may be empty although rows follow, when the filter matched none in a stretch. */
  page: async (
    { scope, fields, after, upTo, limits }: ExportPageAsked,
    onRow: (row: RowBytes) => void,
    signal?: AbortSignal,
  ): Promise<ExportPage> => {
    signal?.throwIfAborted();
    const page: ExportPage = { rows: 0, raw_bytes: 0, last: null, starts: null, next: null };
    let [min, max] = [0n, 0n];
    let hasNext = false;
    let ahead: Stretch | null = null;
    await asTenant(db, scope.tenant_id, async (tx) => {
      // The rows cannot be taken back. The caller writes the whole file again.
      if (page.rows > 0) throw new Problem('unavailable', 'The read of a page of an export was interrupted');
      if (scope.condition !== null) {
        const [row] = await tx.query<{ start_time: string; id: string; has_next: boolean }>(
          { text: stretchSql(scope, after, upTo) },
          [],
        );
        if (row === undefined) return;
        ahead = { last: { start_time: row.start_time, id: row.id }, has_next: row.has_next };
      }
      const span = { after, upTo: ahead?.last ?? upTo };
      const take = (row: RowBytes): void => {
        page.rows++;
        page.raw_bytes = row.bytes.readDoubleBE((row.ends[2] ?? 0) - 8);
        hasNext = row.bytes[(row.ends[3] ?? 0) - 1] === 1;
        const start = microsAt(row, 4);
        [min, max] =
          page.rows === 1 ? [start, start] : [start < min ? start : min, start > max ? start : max];
        // Computed only for a row that may be the last one; its bytes are invalid after the callback.
        if (!hasNext || page.rows >= limits.rows || page.raw_bytes >= limits.bytes) page.last = placeOf(row);
        onRow(row);
      };
      await tx.copyOut(pageSql(scope, span, fields, limits), take, signal);
    });
    if (page.rows > 0) page.starts = { min: timeOf(min), max: timeOf(max) };
    page.next = hasNext ? page.last : nextOf(ahead);
    return page;
  },
});

const nextOf = (ahead: Stretch | null): RowPlace | null => (ahead?.has_next ? ahead.last : null);
