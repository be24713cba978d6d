// Searches of runs by time, newest or oldest first, within a time budget and a limit of bytes.
//
// The list is read in steps of days that grow, from its beginning: a page of what is recent opens one or two partitions, however
// many there are. Most steps are one statement, which may use any index. A condition that no index serves, such as a search
// for a text, may take longer than that statement may: from there on the search goes through the index on time in stretches of
// a bounded number of rows, whose number follows from how long the last stretch took. When the budget is used up, or the
// payloads of the next run would exceed the bytes, the search returns the place where it stopped. The next search goes on from
// that place and repeats nothing.
import { Problem } from '@svc/contract/problem';
import type { AnswerLimits } from '../postgres/answer-limits.ts';
import { readRuns, type RunPage } from './bounded-trace-runs.ts';
import type { Database } from '../postgres/database.ts';
import { asTenant } from '../postgres/tenant.ts';
import { isTimeLimit } from '../postgres/time-limit.ts';
import type { TraceRow } from './trace-row.ts';
import {
  type Bounds,
  type DaySpan,
  projectsSql,
  type RunPlace,
  type SearchedRuns,
  type Stretch,
  stretchEndSql,
  stretchRowsSql,
} from './trace-search-sql.ts';

/** Where a search goes on: after this run. */
export interface SearchPlace extends RunPlace {
  /** Once the search reads in stretches: how many runs of a project one has. */
  stretch?: number | undefined;
}

export interface RunListFilter extends SearchedRuns {
  after: SearchPlace | null;
  limit: number;
}

export interface SearchLimits {
  /** The search stops after this time. It finishes the stretch that it has begun, so that every call makes progress. */
  budgetMs: number;
  /** The time limit of one statement, after which the search reads in stretches; 0: it does so from the start. */
  statementMs?: number;
  /** How many runs of a project the first stretch has. */
  stretch?: number;
}

type Limits = SearchLimits & Pick<AnswerLimits, 'pageBytes'>;

export interface FoundRuns {
  rows: TraceRow[];
  /** Where the budget or the bytes of a page were used up; null when the limit or the end of the list was reached. */
  stopped: SearchPlace | null;
  /** The bytes were used up: the payloads of the next run would exceed them. */
  isCut: boolean;
  /** Set when it reads in stretches: for the place from which it goes on. */
  stretch: number | undefined;
}

const statementDefaultMs = 3_000;
/** The time limit of a statement when the budget is nearly used up. */
const leastMs = 1_000;
/** The time limit of a stretch of one row. */
const rowMs = 25_000;
const stretchRows = { first: 1_000, min: 1, max: 50_000 };
/** How long a stretch should take. */
const stretchMs = { short: 200, long: 800 };
const projectsMax = 10_000;

const daysStatement = {
  name: 'traces_days',
  text: `select day from trace_days
    where ($1::timestamptz is null or day >= ($1 at time zone 'utc')::date)
      and ($2::timestamptz is null or day <= ($2 at time zone 'utc')::date)
    order by day desc limit 10000`,
};

const dayMs = 86_400_000;
const nextDay = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + dayMs).toISOString().slice(0, 10);
const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - dayMs).toISOString().slice(0, 10);

/** Spans that follow each other from one end of time to the other; the days are in the order of the list. */
const spansOf = (days: readonly string[], order: RunListFilter['order']): DaySpan[] => {
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

/** The place at the end of a span, after all of its runs and before all others; null at the end of the list. */
const endOf = ({ from, to }: DaySpan, order: RunListFilter['order']): RunPlace | null => {
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
  readonly #db: Database;
  readonly #filter: RunListFilter;
  readonly #statementMs: number;
  readonly #untilMs: number;
  readonly #rows: TraceRow[] = [];
  #bytesLeft: number;
  #isCut = false;
  #place: RunPlace | null;
  #stretch: number | undefined;
  #hasAdvanced = false;
  readonly #firstStretch: number;
  /** What is searched in stretches, of the days at hand. */
  #byProject: (SearchedRuns & { session_ids: string[] }) | undefined;

  constructor(db: Database, filter: RunListFilter, { budgetMs, statementMs, stretch, pageBytes }: Limits) {
    this.#db = db;
    this.#filter = filter;
    this.#statementMs = statementMs ?? statementDefaultMs;
    this.#untilMs = performance.now() + budgetMs;
    this.#bytesLeft = pageBytes;
    this.#place = filter.after;
    this.#firstStretch = stretch ?? stretchRows.first;
    this.#stretch = filter.after?.stretch ?? (this.#statementMs === 0 ? this.#firstStretch : undefined);
  }

  async run(): Promise<FoundRuns> {
    for (const span of await this.#spans()) {
      const isWhole = await this.#readSpan(span);
      if (!isWhole) return this.#found(this.#rows.length < this.#filter.limit);
      this.#advance(endOf(span, this.#filter.order));
      this.#byProject = undefined;
    }
    return this.#found(false);
  }

  #found(hasStopped: boolean): FoundRuns {
    const stretch = this.#stretch;
    const place = this.#place;
    const stopped = hasStopped && place ? { ...place, stretch } : null;
    return { rows: this.#rows, stopped, isCut: this.#isCut, stretch };
  }

  async #spans(): Promise<DaySpan[]> {
    const { tenant_id, since, until, after, order } = this.#filter;
    const [oldest, newest] =
      order === 'desc' ? [since, after?.start_time ?? until] : [after?.start_time ?? since, until];
    const found = await asTenant(this.#db, tenant_id, (tx) =>
      tx.query<{ day: string }>(daysStatement, [oldest, newest]),
    );
    const days = found.map((row) => row.day);
    return spansOf(order === 'desc' ? days : days.toReversed(), order);
  }

  /** True when the span was read to its end before the limit, the bytes or the budget were used up. */
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

  /** Adds the rows of the page, unless its first row exceeds the bytes that are left. The first row of a search always fits. */
  #add({ rows, bytes, isCut }: RunPage): void {
    const fits = this.#rows.length === 0 || bytes <= this.#bytesLeft;
    this.#isCut = isCut || !fits;
    if (!fits) return;
    this.#rows.push(...rows);
    this.#bytesLeft -= bytes;
    const last = rows.at(-1);
    if (isCut && last?.start_time) this.#advance({ start_time: last.start_time, id: last.id });
  }

  /** The end of a span may be the place where the search began; that is no progress. */
  #advance(place: RunPlace | null): void {
    const { after } = this.#filter;
    this.#hasAdvanced ||= place?.start_time !== after?.start_time || place?.id !== after?.id;
    this.#place = place;
  }

  /** Reads one stretch, or all that is left of the days: then `upTo` is null. */
  async #readNext(days: DaySpan): Promise<{ page: RunPage; upTo: RunPlace | null } | 'too long'> {
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
          const [end] = await tx.query<RunPlace>(...stretchEndSql(this.#byProject, stretch, count));
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
      throw new Problem('unavailable', 'A single run takes too long to search');
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

const pageOf = (tx: Database, scope: SearchedRuns, stretch: Stretch, bounds: Bounds): Promise<RunPage> =>
  readRuns(tx, ...stretchRowsSql(scope, stretch, bounds));

/** The index on time is one by project: where none is named, all that have runs in these days are. */
const byProject = async (
  tx: Database,
  filter: SearchedRuns,
  days: DaySpan,
): Promise<SearchedRuns & { session_ids: string[] }> => {
  if (filter.session_ids !== null) return { ...filter, session_ids: filter.session_ids };
  const projects = await tx.query<{ id: string }>(...projectsSql(filter, days, projectsMax));
  return { ...filter, session_ids: projects.map(({ id }) => id), or_no_session: true };
};

/** Runs in the order of their starts. Runs without a start are not found. */
export const searchRuns = (db: Database, filter: RunListFilter, limits: Limits): Promise<FoundRuns> =>
  new RunSearch(db, filter, limits).run();
