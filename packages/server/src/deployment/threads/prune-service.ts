// Pruning: what clients ask for, what times to live ask for, and what is swept up behind both.
import { Problem } from '@svc/contract/problem';
import type { ExpiredThread } from '../../storage/deployment/expiry.ts';
import type { Storage } from '../../storage/storage.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import type { TtlStrategy } from '../../storage/deployment/threads.ts';
import { LatestState } from './latest-state.ts';
import { sweepMs } from './thread-deletion.ts';
import type { ThreadService } from './thread-service.ts';

/** Checkpoints, and blobs, that one transaction removes. */
const checkpointsMax = 1_000;
const blobsMax = 10_000;
/** A thread whose heads move again and again while it is looked at is in use. */
const tries = 5;

type Stores = Pick<Storage, 'checkpoints' | 'expiry' | 'pruning'>;

export class PruneService {
  readonly #storage: Stores;
  readonly #threads: ThreadService;

  constructor(storage: Stores, threads: ThreadService) {
    this.#storage = storage;
    this.#threads = threads;
  }

  /** Deletes the threads, by id and what each must pass, or all of them but their current states. Returns how many there were. */
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

  /** Does to at most `limit` threads what is due when their time is over. Returns how many there were. */
  async expireThreads(limit: number, signal: AbortSignal): Promise<number> {
    const expired = await this.#storage.expiry.listThreads(limit);
    const failures: unknown[] = [];
    let done = 0;
    for (const thread of expired) {
      if (signal.aborted) break;
      try {
        if (await this.#expire(thread)) done += 1;
      } catch (error) {
        failures.push(error); // the others are due all the same
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `${failures.length} threads could not expire`);
    // Not `done` alone: a thread that was taken into use meanwhile is no reason to leave the rest for later.
    return done === 0 ? 0 : expired.length;
  }

  /**
   * Removes values that nothing refers to any more, in at most `limit` families of copies; those at work are left for
   * later. Returns how many families there were.
   */
  async collectValues(limit: number, signal: AbortSignal): Promise<number> {
    const families = await this.#storage.pruning.listGarbage(limit);
    const failures: unknown[] = [];
    for (const family of families) {
      if (signal.aborted) break;
      try {
        if (!(await this.#collect(family, signal))) await this.#storage.pruning.postpone(family);
      } catch (error) {
        failures.push(error);
        await this.#storage.pruning.postpone(family);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `The values of ${failures.length} families could not be collected`);
    return families.length;
  }

  /** False when it cannot be done now. */
  async #collect(family: string, signal: AbortSignal): Promise<boolean> {
    let removed: number | null = blobsMax;
    while (removed === blobsMax && !signal.aborted) {
      removed = await this.#storage.pruning.collect(family, blobsMax);
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

  /** False when there is no such thread, or it is in use. */
  async #keepLatest(thread_id: string, access: RowFilter): Promise<boolean> {
    const { pruning, checkpoints } = this.#storage;
    for (let tried = 0; tried < tries;) {
      const mark = await pruning.findMark(thread_id, access);
      if (mark === undefined) return false;
      const kept = await new LatestState(thread_id, checkpoints, pruning).kept();
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
