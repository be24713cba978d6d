// Threads, as the runs of a project tell of them: a run is of the thread that its own metadata names, and of none without.
import type { TraceThread } from '@svc/contract';
import type { RunCondition } from '../../storage/run-condition.ts';
import { fromExactText } from '../../storage/exact-text.ts';
import type { RunListFilter } from '../../storage/trace-lists.ts';
import type { ThreadSums } from '../../storage/trace-sums.ts';
import type { TraceStorage } from '../../storage/traces.ts';
import { toScope } from '../traces/run-scope.ts';
import { parseCursor, toCursor } from '../traces/trace-service.ts';
import { previewOf } from './preview.ts';

export interface ThreadQuery {
  project_id: string;
  filter?: string | undefined;
  min_start_time?: string | undefined;
  max_start_time?: string | undefined;
  cursor?: string | undefined;
  page_size?: number | undefined;
}

export interface ThreadPage {
  items: TraceThread[];
  has_more: boolean;
  next_cursor: string | null;
}

type Place = NonNullable<RunListFilter['after']>;

const pageDefault = 20;
/** Runs that are looked at in one go, and for one page: a page may be short, and the next goes on. */
const batch = 500;
const batchesMax = 40;

export class TraceThreadService {
  readonly #traces: TraceStorage;

  constructor(traces: TraceStorage) {
    this.#traces = traces;
  }

  /** By the newest run that fits, newest first. */
  async query(tenant_id: string, asked: ThreadQuery): Promise<ThreadPage> {
    const { project_id, filter, min_start_time, max_start_time } = asked;
    const session = [project_id];
    const scope = toScope(tenant_id, {
      session,
      filter,
      start_time: min_start_time,
      end_time: max_start_time,
    });
    const inThread: RunCondition = { is: 'not', of: { is: 'empty', field: 'thread_id' } };
    const list: Omit<RunListFilter, 'after'> = {
      ...scope,
      filter: scope.filter ? { is: 'all', of: [inThread, scope.filter] } : inThread,
      order: 'desc',
      limit: batch,
      columns: new Set(),
    };
    const span = { tenant_id, session_id: project_id, since: scope.since, until: scope.until };
    const start = asked.cursor === undefined ? null : parseCursor(asked.cursor);
    const { ids, next } = await this.#newest(list, start, asked.page_size ?? pageDefault);
    const sums = ids.length === 0 ? [] : await this.#traces.sumThreads(span, ids);
    const items = sums.map(toThread);
    // In the order in which they were found, which with a filter is that of the runs that fit.
    items.sort((a, b) => ids.indexOf(a.thread_id) - ids.indexOf(b.thread_id));
    return { items, has_more: next !== null, next_cursor: next && toCursor(next) };
  }

  async #newest(
    list: Omit<RunListFilter, 'after'>,
    start: Place | null,
    size: number,
  ): Promise<{ ids: string[]; next: Place | null }> {
    const ids = new Set<string>();
    const listed = new Set<string>();
    let after = start;
    for (let count = 0; count < batchesMax; count++) {
      // Without payloads no page ends early.
      const { rows } = await this.#traces.list({ ...list, after });
      const named = rows.map((row) => fromExactText(row.thread_id ?? ''));
      if (start) {
        const unknown = [...new Set(named)].filter((id) => !ids.has(id) && !listed.has(id));
        for (const id of await this.#traces.threadsBefore(list, unknown, start)) listed.add(id);
      }
      for (const [at, { start_time, id }] of rows.entries()) {
        const thread_id = named[at] ?? '';
        const isNew = !ids.has(thread_id) && !listed.has(thread_id);
        if (isNew && ids.size === size) return { ids: [...ids], next: after };
        if (isNew) ids.add(thread_id);
        if (start_time !== null) after = { start_time, id };
      }
      if (rows.length < batch) return { ids: [...ids], next: null };
    }
    return { ids: [...ids], next: after };
  }
}

const toThread = (sums: ThreadSums): TraceThread => {
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
