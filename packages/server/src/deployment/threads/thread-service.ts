// Threads: conversations with checkpointed state.
import { randomUUID } from 'node:crypto';
import type { Thread } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { Filter } from '../../access/filter.ts';
import { everyRow, type RowFilter } from '../../storage/row-filter.ts';
import { outOfReach } from '../out-of-reach.ts';
import { unlessGone } from '../unless-gone.ts';
import type { Dispatcher } from '../../runtime/dispatcher.ts';
import type { StoredCheckpoint } from '../../storage/checkpoints.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ThreadFilter, ThreadPage, ThreadRow, ThreadTtl } from '../../storage/threads.ts';
import { contains } from './contains.ts';
import type { StateReader } from './state-reader.ts';
import { sweepMs, ThreadDeletion } from './thread-deletion.ts';
import type { StateService, Superstep, Updater } from './state-service.ts';

export interface NewThread {
  thread_id?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  if_exists: 'raise' | 'do_nothing';
  supersteps?: Superstep[] | undefined;
  /** The deployment's default when absent; null for none. */
  ttl?: ThreadTtl | undefined;
}

export interface ThreadSearch extends ThreadFilter {
  /** Containment on the values of the newest checkpoint. */
  values?: Record<string, unknown> | undefined;
}

/** A search by values reads the states of this many threads at most. */
const scannedMax = 10_000;
const scanPage = 200;

/** Checkpoints and writes of a thread that is copied: one statement copies them. */
export const copiedRowsMax = 200_000;

/** How often a thread that is in the way of a new one is looked for. */
const findTries = 2;

export class ThreadService {
  readonly #storage: Storage;
  readonly #reader: StateReader;
  readonly #states: StateService;
  readonly #dispatcher: Pick<Dispatcher, 'cancel'>;
  readonly #deletion: ThreadDeletion;

  constructor(
    storage: Storage,
    reader: StateReader,
    states: StateService,
    dispatcher: Pick<Dispatcher, 'cancel'>,
  ) {
    this.#storage = storage;
    this.#reader = reader;
    this.#states = states;
    this.#dispatcher = dispatcher;
    this.#deletion = new ThreadDeletion(storage);
  }

  /** A thread that is there already is shown to who may create it and may read it. */
  async create(
    { thread_id, metadata = {}, if_exists, supersteps, ttl }: NewThread,
    { creatable, readable }: { creatable: Filter; readable: RowFilter },
    updater: Updater,
  ): Promise<Thread> {
    const id = thread_id ?? randomUUID();
    if (supersteps && supersteps.length > 0 && typeof metadata['graph_id'] !== 'string') {
      throw invalid(
        ['body', 'metadata', 'graph_id'],
        'supersteps need metadata.graph_id: it names the graph whose nodes they write as',
      );
    }
    const create = () => this.#storage.threads.create({ thread_id: id, metadata, config: {} }, ttl);
    let row = await create();
    // Again: what was in the way may have gone before it was looked for, and another may have made it anew.
    for (let tries = 1; !row && if_exists === 'do_nothing' && tries <= findTries; tries++) {
      const there = await this.#storage.threads.find(id, readable);
      const isShown = there && creatable.matches(there.metadata);
      const thread = isShown ? await this.#whole(there).catch(unlessGone) : undefined;
      if (thread) return thread;
      row = await create();
    }
    // Somebody else's is as taken as one's own, and no more is said.
    if (!row) throw new Problem('conflict', `Thread ${id} already exists, or is still being deleted`);
    if (!supersteps || supersteps.length === 0) return toThread(row, {});
    try {
      await this.#states.apply(row, supersteps, {}, updater);
    } catch (error) {
      // Others have known the id since the thread was made, and may have used it.
      await this.#storage.threads.deleteUnused(id, creatable);
      throw error;
    }
    return this.get(id, creatable);
  }

  async get(thread_id: string, access: RowFilter): Promise<Thread> {
    return this.#whole(await this.row(thread_id, access));
  }

  /** The stored row. Throws not_found. */
  async row(thread_id: string, access: RowFilter): Promise<ThreadRow> {
    const row = await this.#storage.threads.find(thread_id, access);
    if (!row) throw notFound('Thread', thread_id);
    return row;
  }

  /** A ttl counts from now on; null takes it away. */
  async patch(
    thread_id: string,
    metadata: Record<string, unknown>,
    access: RowFilter,
    ttl?: ThreadTtl,
  ): Promise<Thread> {
    const patch = () => this.#storage.threads.patch(thread_id, metadata, access, ttl);
    let row = await patch();
    if (!row) {
      await this.row(thread_id, access);
      // It may have been made only since the first time.
      row = await patch();
    }
    if (!row) throw outOfReach('thread');
    return this.#whole(row);
  }

  /** The thread is gone when this resolves; rows that it has left may still be there after `untilMs` (monotonic). */
  async delete(thread_id: string, access: RowFilter, untilMs = performance.now() + sweepMs): Promise<void> {
    const inFlight = await this.#storage.runs.listInFlight(thread_id);
    if (!(await this.#deletion.delete(thread_id, access, untilMs))) throw notFound('Thread', thread_id);
    // Their rows are gone, so nothing they still write is accepted; this ends them.
    for (const run_id of inFlight) this.#dispatcher.cancel(run_id);
  }

  /** A new thread with the same history, and this metadata on top. */
  async copy(
    source: { thread_id: string; access: RowFilter },
    copy: { thread_id: string; access: RowFilter; metadata: Record<string, unknown> },
  ): Promise<Thread> {
    const { thread_id } = copy;
    const to = { ...copy, metadata: { ...copy.metadata, thread_id } };
    const outcome = await this.#storage.threads.copy(source, to, copiedRowsMax);
    if (outcome === 'missing') throw notFound('Thread', source.thread_id);
    if (outcome === 'outside') throw outOfReach('copy');
    if (outcome === 'too_large') {
      throw new Problem(
        'conflict',
        `Thread ${source.thread_id} has more than ${copiedRowsMax} checkpoints and writes, which is the most that can be copied. Prune it first with strategy keep_latest`,
      );
    }
    return this.get(thread_id, everyRow);
  }

  /** A page of threads and the number of all that match. Values and interrupts are read only when asked for. */
  async search(
    filter: ThreadSearch,
    page: ThreadPage,
    withValues: boolean,
    access: RowFilter,
  ): Promise<{ threads: Thread[]; total: number }> {
    if (filter.values && Object.keys(filter.values).length > 0)
      return this.#searchValues(filter, page, filter.values, access);
    const [rows, total] = await Promise.all([
      this.#storage.threads.search(filter, page, access),
      this.#storage.threads.count(filter, access),
    ]);
    return { threads: await this.#toThreads(rows, withValues), total };
  }

  async count(filter: ThreadSearch, access: RowFilter): Promise<number> {
    if (!filter.values || Object.keys(filter.values).length === 0)
      return this.#storage.threads.count(filter, access);
    const page: ThreadPage = { limit: 0, offset: 0, sort_by: 'created_at', sort_order: 'desc' };
    return (await this.#searchValues(filter, page, filter.values, access)).total;
  }

  /** Values are not indexed: the candidates that the other filters leave are read in pages, up to a bound. */
  async #searchValues(
    filter: ThreadSearch,
    page: ThreadPage,
    values: Record<string, unknown>,
    access: RowFilter,
  ) {
    const candidates = await this.#storage.threads.count(filter, access);
    if (candidates > scannedMax) {
      throw invalid(
        ['body', 'values'],
        `A search by values reads at most ${scannedMax} threads, and ${candidates} match the other filters: narrow them by metadata or status`,
      );
    }
    const matching: Thread[] = [];
    for (let offset = 0; offset < candidates; offset += scanPage) {
      const rows = await this.#storage.threads.search(filter, { ...page, limit: scanPage, offset }, access);
      matching.push(
        ...(await this.#toThreads(rows, true)).filter((thread) => contains(thread.values, values)),
      );
    }
    return { threads: matching.slice(page.offset, page.offset + page.limit), total: matching.length };
  }

  /** Those that have gone since they were found are left out when their values are wanted. */
  async #toThreads(rows: ThreadRow[], withValues: boolean): Promise<Thread[]> {
    if (!withValues) return rows.map((row) => toThread(row, undefined));
    const heads = await this.#storage.checkpoints.findHeads(rows.map((row) => row.thread_id));
    const threads = await Promise.all(
      rows
        .filter((row) => heads.has(row.thread_id))
        .map((row) => this.#withValues(row, heads.get(row.thread_id)).catch(unlessGone)),
    );
    return threads.filter((thread) => thread !== undefined);
  }

  /** With its values. Throws not_found when it has gone since it was found. */
  async #whole(row: ThreadRow): Promise<Thread> {
    const head = await this.#storage.checkpoints.find({ thread_id: row.thread_id, checkpoint_ns: '' });
    if (!head) await this.#reader.assertThere(row);
    return this.#withValues(row, head);
  }

  async #withValues(row: ThreadRow, head: StoredCheckpoint | undefined): Promise<Thread> {
    return toThread(row, head ? await this.#reader.values(row, head) : {});
  }
}

const toThread = (row: ThreadRow, values: unknown): Thread => {
  const { blob_space: _, removals: _removals, interrupts, error, ...rest } = row;
  const { ttl_strategy: strategy, ttl_minutes, expires_at, ...thread } = rest;
  return {
    ...thread,
    values,
    interrupts: JSON.parse(interrupts),
    ...(error === null ? {} : { error: JSON.parse(error) }),
    ...(ttl_minutes === null ? {} : { ttl: { strategy, ttl_minutes, expires_at } }),
  } as Thread;
};
