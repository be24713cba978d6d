// Pruning of threads on request, expiry of threads, and collection of unreferenced blobs.
import { Problem } from '@svc/contract/problem';
import type { ExpiredThread } from '../../storage/deployment/threads/expiry.ts';
import type { Storage } from '../../storage/storage.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import type { TtlStrategy } from '../../storage/deployment/threads/threads.ts';
import { NeededCheckpoints } from './needed-checkpoints.ts';
import { sweepMs } from './thread-deletion.ts';
import type { ThreadService } from './thread-service.ts';

/** Checkpoints and blobs that one transaction deletes. */
const checkpointsMax = 1_000;
const blobsMax = 10_000;
/** A thread whose heads change this often while it is read is in use. */
const tries = 5;

type Stores = Pick<Storage, 'checkpoints' | 'expiry' | 'pruning'>;

export class PruneService {
  readonly #storage: Stores;
  readonly #threads: ThreadService;

  constructor(storage: Stores, threads: ThreadService) {
    this.#storage = storage;
    this.#threads = threads;
  }

  /** Deletes the threads (ids with the filter that each must pass), or all of their checkpoints except the current state. Returns how many. */
  async prune(threads: ReadonlyMap<string, RowFilter>, strategy: TtlStrategy): Promise<number> {
    let count = 0;
    const untilMs = performance.now() + sweepMs;
    for (const [thread_id, access] of threads) {
      const isDone = await (strategy === 'delete'
        ? this.#delete(thread_id, access, untilMs)
        : this.#keepLatest(thread_id, access));
      if (isDone) count += 1;
    }
    return count;
  }

  /** Deletes or prunes at most `limit` expired threads. Returns how many were due. */
  async expireThreads(limit: number, signal: AbortSignal): Promise<number> {
    const expired = await this.#storage.expiry.listThreads(limit);
    const failures: unknown[] = [];
    let done = 0;
    for (const thread of expired) {
      if (signal.aborted) break;
      try {
        if (await this.#expire(thread)) done += 1;
      } catch (error) {
        failures.push(error); // the other threads are still due
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `Failed to expire ${failures.length} threads`);
    // Not `done`: a thread that was used meanwhile must not end the batch early.
    return done === 0 ? 0 : expired.length;
  }

  /**
   * Deletes unreferenced blobs in at most `limit` blob spaces; spaces in use are postponed. Returns how many spaces were due.
   */
  async collectBlobs(limit: number, signal: AbortSignal): Promise<number> {
    const spaces = await this.#storage.pruning.listGarbage(limit);
    const failures: unknown[] = [];
    for (const space of spaces) {
      if (signal.aborted) break;
      try {
        if (!(await this.#collect(space, signal))) await this.#storage.pruning.postpone(space);
      } catch (error) {
        failures.push(error);
        await this.#storage.pruning.postpone(space);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `Failed to collect the blobs of ${failures.length} blob spaces`);
    return spaces.length;
  }

  /** False when it cannot be done now. */
  async #collect(space: string, signal: AbortSignal): Promise<boolean> {
    let removed: number | null = blobsMax;
    while (removed === blobsMax && !signal.aborted) {
      removed = await this.#storage.pruning.collect(space, blobsMax);
    }
    return removed !== null;
  }

  async #delete(thread_id: string, access: RowFilter, untilMs: number): Promise<boolean> {
    try {
      await this.#threads.delete(thread_id, access, untilMs);
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === 'not_found') return false;
      throw error;
    }
  }

  /** False when the thread does not exist or is in use. */
  async #keepLatest(thread_id: string, access: RowFilter): Promise<boolean> {
    const { pruning, checkpoints } = this.#storage;
    for (let tried = 0; tried < tries;) {
      const mark = await pruning.findMark(thread_id, access);
      if (mark === undefined) return false;
      const kept = await new NeededCheckpoints(thread_id, checkpoints, pruning).list();
      const outcome = await pruning.prune(thread_id, { mark, kept }, checkpointsMax);
      switch (outcome) {
        case 'done':
          return true;
        case 'busy':
        case 'missing':
          return false;
        case 'changed':
          tried += 1;
          break;
        case 'more':
          break;
      }
    }
    return false;
  }

  async #expire({ thread_id, ttl_strategy }: ExpiredThread): Promise<boolean> {
    if (ttl_strategy === 'delete') return this.#storage.expiry.deleteThread(thread_id);
    return (await this.#keepLatest(thread_id, everyRow)) && this.#storage.expiry.markKept(thread_id);
  }
}
