// Threads of a project, derived from its trace runs: a trace run belongs to the thread that its own metadata names.
import type { RouteInput, RouteOutput, TraceThread, traceThreadRoutes } from '@svc/contract';
import type { TraceRunCondition } from '../../storage/tracing/trace-condition.ts';
import type { TraceRunScope } from '../../storage/tracing/trace-scope.ts';
import { fromExactText } from '../../storage/postgres/exact-text.ts';
import type { TraceRunListFilter, SearchPosition } from '../../storage/tracing/trace-search.ts';
import type { ThreadSums } from '../../storage/tracing/trace-sums.ts';
import type { TraceStorage } from '../../storage/tracing/traces.ts';
import { parseCursor, partialOf, toCursor, withTimeoutAdvice } from '../traces/run-page.ts';
import { toScope } from '../traces/run-scope.ts';
import { previewOf } from './preview.ts';

type ThreadQuery = RouteInput<(typeof traceThreadRoutes)['queryTraceThreads']>['body'];

type ThreadPage = RouteOutput<(typeof traceThreadRoutes)['queryTraceThreads']>;

/** A page of thread ids. `next`: where the next page begins; `stopped`: where the search ran out of its time budget. */
interface FoundThreads {
  ids: string[];
  next: SearchPosition | null;
  stopped: SearchPosition | null;
}

const pageDefault = 20;
/** Runs that one search reads. A page reads at most `batchesMax` such batches, and may therefore have fewer threads than requested. */
const batch = 500;
const batchesMax = 40;

export class TraceThreadService {
  readonly #traces: TraceStorage;
  readonly #budgetMs: number;

  constructor(traces: TraceStorage, budgetMs: number) {
    this.#traces = traces;
    this.#budgetMs = budgetMs;
  }

  /** Threads ordered by their newest run that matches the filter, newest first. */
  async query(tenant_id: string, query: ThreadQuery): Promise<ThreadPage> {
    const { project_id, filter, trace_filter, tree_filter, min_start_time, max_start_time } = query;
    const session = [project_id];
    const scope = toScope(tenant_id, {
      session,
      filter,
      trace_filter,
      tree_filter,
      start_time: min_start_time,
      end_time: max_start_time,
    });
    const list: Omit<TraceRunListFilter, 'after'> = {
      ...ofThreads(scope),
      order: 'desc',
      limit: batch,
      columns: new Set(),
    };
    const span = { tenant_id, session_id: project_id, since: scope.since, until: scope.until };
    const start = query.cursor === undefined ? null : parseCursor(query.cursor);
    const size = query.page_size ?? pageDefault;
    const { ids, next, stopped } = await withTimeoutAdvice('The list', this.#newest(list, start, size));
    const sums =
      ids.length === 0
        ? []
        : await withTimeoutAdvice('The sum of these threads', this.#traces.sumThreads(span, ids));
    const items = sums.map(toThread);
    // Restores the order of the search, which with a filter depends on the matching runs only.
    items.sort((a, b) => ids.indexOf(a.thread_id) - ids.indexOf(b.thread_id));
    return {
      items,
      has_more: next !== null,
      next_cursor: next && toCursor(next),
      ...partialOf(stopped, this.#budgetMs, 'next_cursor'),
    };
  }

  async #newest(
    list: Omit<TraceRunListFilter, 'after'>,
    start: SearchPosition | null,
    size: number,
  ): Promise<FoundThreads> {
    const untilMs = performance.now() + this.#budgetMs;
    const ids = new Set<string>();
    const listed = new Set<string>();
    let after = start;
    for (let count = 0; count < batchesMax; count++) {
      const budgetMs = Math.max(0, untilMs - performance.now());
      // The search reads no payloads, so it does not end early because of their bytes.
      const { rows, stopped, stretch } = await this.#traces.search({ ...list, after }, { budgetMs });
      const named = rows.map((row) => fromExactText(row.thread_id ?? ''));
      if (start) {
        const unknown = [...new Set(named)].filter((id) => !ids.has(id) && !listed.has(id));
        for (const id of await this.#traces.threadsBefore(list, unknown, start)) listed.add(id);
      }
      for (const [at, { start_time, id }] of rows.entries()) {
        const thread_id = named[at] ?? '';
        const isNew = !ids.has(thread_id) && !listed.has(thread_id);
        if (isNew && ids.size === size) return { ids: [...ids], next: after, stopped: null };
        if (isNew) ids.add(thread_id);
        if (start_time !== null) after = { start_time, id, stretch };
      }
      if (stopped !== null) return { ids: [...ids], next: stopped, stopped };
      if (rows.length < batch) return { ids: [...ids], next: null, stopped: null };
    }
    return { ids: [...ids], next: after, stopped: null };
  }
}

const inThread: TraceRunCondition = { is: 'not', of: { is: 'empty', field: 'thread_id' } };

/** The trace runs of the scope that have the id of a thread. */
export const ofThreads = (scope: TraceRunScope): TraceRunScope => ({
  ...scope,
  filter: scope.filter ? { is: 'all', of: [inThread, scope.filter] } : inThread,
});

export const toThread = (sums: ThreadSums): TraceThread => {
  const { first_inputs, last_outputs, last_error, runs_without_thread_id: lacking, ...rest } = sums;
  return {
    ...rest,
    thread_id: fromExactText(sums.thread_id),
    runs_without_thread_id: lacking,
    notice: lacking === 0 ? null : `${lacking} ${lacking === 1 ? 'run lacks' : 'runs lack'} thread_id`,
    first_inputs: previewOf(first_inputs),
    last_outputs: previewOf(last_outputs),
    last_error: last_error === null ? null : fromExactText(last_error).slice(0, 500),
  };
};
