// Searches trace runs by time, newest or oldest first, within a time budget and a limit of bytes.
//
// The list is read in steps of days that grow, starting at its beginning: a page of recent trace runs opens one or two partitions, no
// matter how many exist. Most steps are one statement, which may use any index. A condition without an index, such as a text search,
// may exceed the statement's time limit. Then the search reads the index on time in stretches of a bounded number of rows; that number
// is adapted to the duration of the last stretch. When the budget is used up, or the payloads of the next trace run would exceed the
// bytes, the search returns the position where it stopped. The next search continues there and repeats nothing.
import { Problem } from '@svc/contract/problem';
import type { AnswerLimits } from '../postgres/answer-limits.ts';
import { readRuns, type TraceRunPage } from './bounded-trace-runs.ts';
import type { Database, Transactions } from '../postgres/database.ts';
import { asTenant } from '../postgres/tenant.ts';
import { isTimeLimit } from '../postgres/sql-state.ts';
import type { TraceRunRow } from './trace-row.ts';
import {
  type Bounds,
  type DaySpan,
  projectsSql,
  type TraceRunPosition,
  type SearchedTraceRuns,
  type Stretch,
  stretchEndSql,
  stretchRowsSql,
} from './trace-search-sql.ts';
import { statement } from '../postgres/statement.ts';

/** The position after which a search continues. */
export interface SearchPosition extends TraceRunPosition {
  /** Number of trace runs per project in a stretch, when the search reads in stretches. */
  stretch?: number | undefined;
}

export interface TraceRunListFilter extends SearchedTraceRuns {
  after: SearchPosition | null;
  limit: number;
}

export interface SearchLimits {
  /** Time budget. A stretch that has begun is finished, so that every call makes progress. */
  budgetMs: number;
  /** Time limit of one statement, after which the search reads in stretches; 0 reads in stretches from the start. */
  statementMs?: number;
  /** Number of trace runs per project in the first stretch. */
  stretch?: number;
}

type Limits = SearchLimits & Pick<AnswerLimits, 'pageBytes'>;

export interface FoundTraceRuns {
  rows: TraceRunRow[];
  /** The position where the budget or the bytes were used up; null when the limit or the end of the list was reached. */
  stopped: SearchPosition | null;
  /** The bytes were used up: the payloads of the next trace run would exceed them. */
  isCut: boolean;
  /** The size of the next stretch; set when the search reads in stretches. */
  stretch: number | undefined;
}

const statementDefaultMs = 3_000;
/** Minimum time limit of a statement, when the budget is nearly used up. */
const leastMs = 1_000;
/** Time limit of a stretch with one row. */
const rowMs = 25_000;
const stretchRows = { first: 1_000, min: 1, max: 50_000 };
/** The intended duration of a stretch. */
const stretchMs = { short: 200, long: 800 };
const projectsMax = 10_000;

export const daysStatement = statement<{ day: string }>(`select day from trace_days
    where ($1::timestamptz is null or day >= ($1 at time zone 'utc')::date)
      and ($2::timestamptz is null or day <= ($2 at time zone 'utc')::date)
    order by day desc limit 10000`);

const dayMs = 86_400_000;
const nextDay = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + dayMs).toISOString().slice(0, 10);
const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - dayMs).toISOString().slice(0, 10);

/** Adjacent spans that cover all of time; the days are in the order of the list. */
const spansOf = (days: readonly string[], order: TraceRunListFilter['order']): DaySpan[] => {
  const spans: DaySpan[] = [];
  let edge: string | null = null;
  for (let at = 0, size = 1; at === 0 || at < days.length; at += size, size *= 2) {
    const last = days[at + size - 1];
    const isLast = at + size >= days.length || last === undefined;
    const border: string | null = isLast ? null : order === 'desc' ? last : nextDay(last);
    spans.push(order === 'desc' ? { from: border, to: edge } : { from: edge, to: border });
    edge = border;
  }
  return spans;
};

/** The position after all trace runs of a span and before all others; null at the end of the list. */
const endOf = ({ from, to }: DaySpan, order: TraceRunListFilter['order']): TraceRunPosition | null => {
  const border = order === 'desc' ? from : to;
  if (border === null) return null;
  return order === 'desc'
    ? { start_time: `${border}T00:00:00.000000Z`, id: '00000000-0000-0000-0000-000000000000' }
    : {
        start_time: `${dayBefore(border)}T23:59:59.999999Z`,
        id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      };
};

class RunSearch {
  readonly #db: Transactions;
  readonly #filter: TraceRunListFilter;
  readonly #statementMs: number;
  readonly #untilMs: number;
  readonly #rows: TraceRunRow[] = [];
  #bytesLeft: number;
  #isCut = false;
  #place: TraceRunPosition | null;
  #stretch: number | undefined;
  #hasAdvanced = false;
  readonly #firstStretch: number;
  /** The scope with its projects, for reads of the current days in stretches. */
  #byProject: (SearchedTraceRuns & { session_ids: string[] }) | undefined;

  constructor(
    db: Transactions,
    filter: TraceRunListFilter,
    { budgetMs, statementMs, stretch, pageBytes }: Limits,
  ) {
    this.#db = db;
    this.#filter = filter;
    this.#statementMs = statementMs ?? statementDefaultMs;
    this.#untilMs = performance.now() + budgetMs;
    this.#bytesLeft = pageBytes;
    this.#place = filter.after;
    this.#firstStretch = stretch ?? stretchRows.first;
    this.#stretch = filter.after?.stretch ?? (this.#statementMs === 0 ? this.#firstStretch : undefined);
  }

  async run(): Promise<FoundTraceRuns> {
    for (const span of await this.#spans()) {
      const isWhole = await this.#readSpan(span);
      if (!isWhole) return this.#found(this.#rows.length < this.#filter.limit);
      this.#advance(endOf(span, this.#filter.order));
      this.#byProject = undefined;
    }
    return this.#found(false);
  }

  #found(hasStopped: boolean): FoundTraceRuns {
    const stretch = this.#stretch;
    const place = this.#place;
    const stopped = hasStopped && place ? { ...place, stretch } : null;
    return { rows: this.#rows, stopped, isCut: this.#isCut, stretch };
  }

  async #spans(): Promise<DaySpan[]> {
    const { tenant_id, since, until, after, order } = this.#filter;
    const [oldest, newest] =
      order === 'desc' ? [since, after?.start_time ?? until] : [after?.start_time ?? since, until];
    const found = await asTenant(this.#db, tenant_id, (tx) => tx.query(daysStatement, [oldest, newest]));
    const days = found.map((row) => row.day);
    return spansOf(order === 'desc' ? days : days.toReversed(), order);
  }

  /** True when the span was read to its end before the limit, the bytes or the budget was used up. */
  async #readSpan(days: DaySpan): Promise<boolean> {
    for (;;) {
      if (this.#hasAdvanced && performance.now() >= this.#untilMs) return false;
      const startedMs = performance.now();
      const read = await this.#readNext(days);
      if (read === 'too long') {
        this.#shorten();
        continue;
      }
      const { page, upTo } = read;
      this.#add(page);
      if (this.#isCut || this.#rows.length >= this.#filter.limit) return false;
      this.#adapt(performance.now() - startedMs);
      if (upTo === null) return true;
      this.#advance(upTo);
    }
  }

  /** Adds the rows of the page, unless its first row exceeds the remaining bytes. The first row of a search always fits. */
  #add({ rows, bytes, isCut }: TraceRunPage): void {
    const fits = this.#rows.length === 0 || bytes <= this.#bytesLeft;
    this.#isCut = isCut || !fits;
    if (!fits) return;
    this.#rows.push(...rows);
    this.#bytesLeft -= bytes;
    const last = rows.at(-1);
    if (isCut && last?.start_time) this.#advance({ start_time: last.start_time, id: last.id });
  }

  /** The end of a span may equal the start of the search; that is not progress. */
  #advance(place: TraceRunPosition | null): void {
    const { after } = this.#filter;
    this.#hasAdvanced ||= place?.start_time !== after?.start_time || place?.id !== after?.id;
    this.#place = place;
  }

  /** Reads one stretch, or the rest of the days; then `upTo` is null. */
  async #readNext(
    days: DaySpan,
  ): Promise<{ page: TraceRunPage; upTo: TraceRunPosition | null } | 'too long'> {
    const bounds: Bounds = { limit: this.#filter.limit - this.#rows.length, bytesMax: this.#bytesLeft };
    const stretch: Stretch = { days, after: this.#place, upTo: null };
    try {
      return await asTenant(
        this.#db,
        this.#filter.tenant_id,
        async (tx) => {
          const count = this.#stretch;
          if (count === undefined)
            return { page: await pageOf(tx, this.#filter, stretch, bounds), upTo: null };
          this.#byProject ??= await byProject(tx, this.#filter, days);
          const [end] = await tx.query(...stretchEndSql(this.#byProject, stretch, count));
          const upTo = end ?? null;
          return { page: await pageOf(tx, this.#byProject, { ...stretch, upTo }, bounds), upTo };
        },
        { statementMs: this.#timeLimit() },
      );
    } catch (error) {
      if (isTimeLimit(error)) return 'too long';
      throw error;
    }
  }

  #timeLimit(): number {
    if (this.#stretch === stretchRows.min) return rowMs;
    const leftMs = Math.max(leastMs, this.#untilMs - performance.now());
    return Math.min(leftMs, this.#statementMs === 0 ? statementDefaultMs : this.#statementMs);
  }

  #shorten(): void {
    if (this.#stretch === stretchRows.min)
      throw new Problem('unavailable', 'The filter takes too long on a single trace run; simplify it');
    this.#stretch =
      this.#stretch === undefined
        ? this.#firstStretch
        : Math.max(stretchRows.min, Math.floor(this.#stretch / 8));
  }

  #adapt(tookMs: number): void {
    if (this.#stretch === undefined) return;
    if (tookMs < stretchMs.short) this.#stretch = Math.min(stretchRows.max, this.#stretch * 2);
    if (tookMs > stretchMs.long) this.#stretch = Math.max(stretchRows.min, Math.floor(this.#stretch / 2));
  }
}

const pageOf = (
  tx: Database,
  scope: SearchedTraceRuns,
  stretch: Stretch,
  bounds: Bounds,
): Promise<TraceRunPage> => readRuns(tx, ...stretchRowsSql(scope, stretch, bounds));

/** The index on time is per project: without projects in the filter, uses all projects with trace runs in these days. */
const byProject = async (
  tx: Database,
  filter: SearchedTraceRuns,
  days: DaySpan,
): Promise<SearchedTraceRuns & { session_ids: string[] }> => {
  if (filter.session_ids !== null) return { ...filter, session_ids: filter.session_ids };
  const projects = await tx.query(...projectsSql(filter, days, projectsMax));
  return { ...filter, session_ids: projects.map(({ id }) => id), or_no_session: true };
};

/** Trace runs ordered by start. Trace runs without a start are not found. */
export const searchTraceRuns = (
  db: Transactions,
  filter: TraceRunListFilter,
  limits: Limits,
): Promise<FoundTraceRuns> => new RunSearch(db, filter, limits).run();
