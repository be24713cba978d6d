import { type RunStats, type RunStatsPoint, type RunStatsSeries, statsPointsMax } from '@svc/contract';
import { notFound } from '@svc/contract/problem';
import type { TraceStorage } from '../../storage/tracing/traces.ts';
import type { FeedbackStat, FeedbackStorage } from '../../storage/tracing/feedback.ts';
import { type PayloadColumn, payloadColumns, type TraceRunRow } from '../../storage/tracing/trace-row.ts';
import type { SearchPosition } from '../../storage/tracing/trace-search.ts';
import { totalColumns, type TraceTotals } from '../../storage/tracing/trace-sums.ts';
import type { AttachmentService, Reader } from './attachment-service.ts';
import {
  parseCursor,
  type PartialAnswer,
  partialOf,
  toCursor,
  type TraceRunPage,
  withTimeoutAdvice,
} from './run-page.ts';
import { type FeedbackStats, toRunText, treeText } from './run-text.ts';
import { type RunSelection, toScope } from './run-scope.ts';
import { type Intervals, intervalsOf, startTime } from '../../api/intervals.ts';
import type { IntervalSums } from '../../storage/tracing/trace-run-sums.ts';
import { microsOf, timeMs, timeOfMicros } from '../../api/time.ts';

export interface RunQuery extends RunSelection {
  select?: string[] | undefined;
  order: 'asc' | 'desc';
  limit?: number | undefined;
  cursor?: string | undefined;
}

const limitDefault = 100;
const treeRunsMax = 10_000;

export class TraceService {
  readonly #traces: TraceStorage;
  readonly #feedback: FeedbackStorage;
  readonly #attachments: AttachmentService;
  readonly #budgetMs: number;

  /** `budgetMs`: time after which a query returns a partial page. */
  constructor(
    { traces, feedback }: { traces: TraceStorage; feedback: FeedbackStorage },
    attachments: AttachmentService,
    budgetMs: number,
  ) {
    this.#traces = traces;
    this.#feedback = feedback;
    this.#attachments = attachments;
    this.#budgetMs = budgetMs;
  }

  /** Returns JSON text. */
  async get(reader: Reader, id: string): Promise<string> {
    const row = await this.#traces.find(reader.tenant_id, id);
    if (row === undefined) throw notFound('Run', id);
    return (await this.#texts(reader, [row], undefined))[0] ?? '';
  }

  /** Returns the OpenTelemetry trace ids of runs that were sent as spans, by run id. */
  otelTracesOf(tenant_id: string, run_ids: string[]): Promise<ReadonlyMap<string, string>> {
    return this.#traces.otelTracesOf(tenant_id, run_ids);
  }

  async stats(tenant_id: string, selection: RunSelection): Promise<RunStats> {
    const sums = await withTimeoutAdvice('The sum', this.#traces.sum(toScope(tenant_id, selection)));
    return { ...sums, error_rate: sums.run_count === 0 ? null : sums.error_count / sums.run_count };
  }

  /** Statistics for each interval of a time range. */
  async series(tenant_id: string, selection: SeriesSelection): Promise<RunStatsSeries> {
    const { start_time, end_time, seconds, starts } = toSeries(selection, Date.now());
    const scope = toScope(tenant_id, { ...selection, start_time, end_time });
    const intervals = { first: starts[0] ?? 0, seconds };
    const sums = await withTimeoutAdvice('The sum', this.#traces.sumIntervals(scope, intervals));
    return { start_time, end_time, interval_seconds: seconds, points: toPoints(starts, sums) };
  }

  /** Returns JSON text. */
  async tree(tenant_id: string, trace_id: string): Promise<string> {
    const { rows, isCut } = await this.#traces.tree(tenant_id, trace_id, treeRunsMax + 1);
    if (rows.length === 0) throw notFound('Trace', trace_id);
    const shown = rows.slice(0, treeRunsMax);
    return treeText(
      trace_id,
      await this.#withTotals(tenant_id, shown, undefined),
      !isCut && rows.length <= treeRunsMax,
    );
  }

  /** A page of runs. A page by ids has no cursor; when it is cut, clients request the missing ids again. */
  async query(reader: Reader, query: RunQuery): Promise<TraceRunPage> {
    const { tenant_id } = reader;
    const select = query.select && new Set(['id', ...query.select]);
    if (query.id) {
      const columns = select ? columnsOf(select) : null;
      const { rows, isCut } = await this.#traces.listByIds(tenant_id, query.id, columns);
      const texts = await this.#texts(reader, rows, select);
      return { text: toPage(texts, null, partialOf(null, 0, '')), isCut };
    }
    const { rows, next, partial, isCut } = await this.search(tenant_id, query, select);
    const texts = await withTimeoutAdvice(sumOfRuns, this.#texts(reader, rows, select));
    return { text: toPage(texts, next, partial('cursors.next')), isCut };
  }

  /** The trace runs of a page, without totals and feedback. `select`: fields that need payloads. */
  async search(tenant_id: string, query: RunQuery, select: Select): Promise<FoundRuns> {
    const limit = query.limit ?? limitDefault;
    const { rows, stopped, stretch, isCut } = await this.#traces.search(
      {
        ...toScope(tenant_id, query),
        order: query.order,
        after: query.cursor === undefined ? null : parseCursor(query.cursor),
        limit: limit + 1,
        columns: select ? columnsOf(select) : null,
      },
      { budgetMs: this.#budgetMs },
    );
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    const next = last?.start_time ? { start_time: last.start_time, id: last.id, stretch } : stopped;
    return {
      rows: shown,
      next,
      partial: (cursor) => partialOf(isCut ? null : stopped, this.#budgetMs, cursor),
      isCut: isCut && rows.length < limit,
    };
  }

  /** Undefined when it does not exist. */
  find(tenant_id: string, id: string): Promise<TraceRunRow | undefined> {
    return this.#traces.find(tenant_id, id);
  }

  async #texts(reader: Reader, rows: readonly TraceRunRow[], select: Select): Promise<string[]> {
    const { tenant_id } = reader;
    const isSelected = (field: string): boolean => select?.has(field) ?? true;
    const ids = rows.map(({ id }) => id);
    const [stats, links, summed] = await Promise.all([
      isSelected('feedback_stats') ? this.feedbackOf(tenant_id, rows) : new Map<string, FeedbackStats>(),
      isSelected('s3_urls') ? this.#attachments.linksOf(reader, ids) : undefined,
      this.#withTotals(tenant_id, rows, select),
    ]);
    return summed.map((row) => {
      const attachments = links && (links.get(row.id) ?? []);
      return toRunText(row, { feedback: stats.get(row.id), attachments }, select);
    });
  }

  /** Feedback by trace run. */
  async feedbackOf(tenant_id: string, rows: readonly TraceRunRow[]): Promise<Map<string, FeedbackStats>> {
    if (rows.length === 0) return new Map();
    return byRun(
      await this.#feedback.ofRuns(
        tenant_id,
        rows.map(({ id }) => id),
      ),
    );
  }

  /** Totals of the whole traces of those rows that are roots, by trace. Traces without tokens, costs and first token have none. */
  async totalsOf(tenant_id: string, rows: readonly TraceRunRow[]): Promise<Map<string, TraceTotals>> {
    const roots = rows.filter((row) => row.parent_run_id === null);
    if (roots.length === 0) return new Map();
    const starts = roots.map((row) => row.start_time);
    const since = starts.reduce((first, start) =>
      first === null || start === null ? null : start < first ? start : first,
    );
    const ids = roots.map((row) => row.trace_id ?? row.id);
    const totals = await withTimeoutAdvice(sumOfRuns, this.#traces.totalsOf(tenant_id, ids, since));
    return new Map(totals.map((total) => [total.trace_id, total]));
  }

  /** Adds the tokens and costs of the whole trace to its root. */
  async #withTotals(tenant_id: string, rows: readonly TraceRunRow[], select: Select): Promise<TraceRunRow[]> {
    const needsTotals = select === undefined || totalColumns.some((name) => select.has(name));
    return needsTotals ? withTotals(rows, await this.totalsOf(tenant_id, rows)) : [...rows];
  }
}

export interface FoundRuns {
  rows: TraceRunRow[];
  /** Where the next page begins. */
  next: SearchPosition | null;
  /** `cursor`: name of the response field that has the cursor of the next page. */
  partial: (cursor: string) => PartialAnswer;
  isCut: boolean;
}

/** Replaces the tokens and costs of roots by those of their traces. */
export const withTotals = (
  rows: readonly TraceRunRow[],
  totals: ReadonlyMap<string, TraceTotals>,
): TraceRunRow[] =>
  rows.map((row) => {
    const sums = row.parent_run_id === null ? totals.get(row.trace_id ?? row.id) : undefined;
    return sums ? { ...row, ...ofTotals(sums) } : row;
  });

const sumOfRuns = 'The sum of tokens and costs of these runs';

type Select = ReadonlySet<string> | undefined;

const ofTotals = (sums: TraceTotals): Partial<TraceRunRow> =>
  Object.fromEntries(totalColumns.map((name) => [name, sums[name]]).filter(([, value]) => value !== null));

const byRun = (given: readonly FeedbackStat[]): Map<string, FeedbackStats> => {
  const stats = new Map<string, FeedbackStats>();
  for (const { run_id, key, n, avg } of given) {
    const known = stats.get(run_id) ?? {};
    stats.set(run_id, { ...known, [key]: { n, avg } });
  }
  return stats;
};

/** The payload columns to read for the selected fields. */
const columnsOf = (select: ReadonlySet<string>): Set<PayloadColumn> => {
  const columns = new Set(payloadColumns.filter((column) => select.has(column)));
  return select.has('extra') ? columns.add('metadata') : columns;
};

const toPage = (runs: readonly string[], position: SearchPosition | null, partial: PartialAnswer): string => {
  const cursors = { next: position && toCursor(position), prev: null };
  const rest = JSON.stringify({ cursors, search_cursors: null, parsed_query: null, ...partial });
  return `{"runs":[${runs.join(',')}],${rest.slice(1)}`;
};

// Statistics over time.

export interface SeriesSelection extends RunSelection {
  interval_seconds?: number | undefined;
}

interface Series extends Intervals {
  start_time: string;
  end_time: string;
}

const rangeDefault = 3_600_000_000n;
const yearOne = microsOf('0001-01-01T00:00:00.000000Z');

/** Throws invalid when the range ends before it starts, or has too many intervals. */
export const toSeries = (selection: SeriesSelection, nowMs: number): Series => {
  const end_time = selection.end_time ?? timeOfMicros(BigInt(nowMs) * 1_000n);
  const start_time = selection.start_time ?? defaultStart(end_time);
  const intervals = intervalsOf(
    { fromMs: timeMs(start_time), toMs: timeMs(end_time), seconds: selection.interval_seconds },
    { max: statsPointsMax, fields: { to: 'end_time', seconds: 'interval_seconds' }, includesEnd: true },
  );
  return { start_time, end_time, ...intervals };
};

/** An hour before the end, or the end itself where that is before the year 1, which is not a time. */
const defaultStart = (end_time: string): string => {
  const start = microsOf(end_time) - rangeDefault;
  return start < yearOne ? end_time : timeOfMicros(start);
};

/** Adds the intervals without trace runs. */
const toPoints = (starts: readonly number[], sums: readonly IntervalSums[]): RunStatsPoint[] => {
  const found = new Map(sums.map(({ at, ...figures }) => [at, figures]));
  return starts.map((at) => ({
    start_time: startTime(at),
    ...(found.get(at) ?? none),
  }));
};

const none: Omit<RunStatsPoint, 'start_time'> = {
  run_count: 0,
  error_count: 0,
  latency_p50: null,
  latency_p99: null,
  first_token_p50: null,
  first_token_p99: null,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_cost: null,
  completion_cost: null,
  total_cost: null,
};
