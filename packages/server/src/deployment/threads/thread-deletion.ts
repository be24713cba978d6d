// Deletes threads of any size. A short statement deletes the thread's row; its other rows are deleted in batches, each in a transaction
// of its own: first in the request, then by a periodic task, which also continues after a crash.
import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { Storage } from '../../storage/storage.ts';

/** How long a request deletes the remaining rows of its threads. */
export const sweepMs = 10_000;
/** Rows that one transaction deletes. */
const batchRows = 5_000;
const sweepEveryMs = 10_000;
/** Deleted threads that one round of the periodic task handles. */
const threadsMax = 100;
/** Threads of an assistant that are listed at once, and that are deleted in parallel. */
const listedMax = 1_000;
const atOnce = 4;

export class ThreadDeletion {
  readonly #storage: Pick<Storage, 'threads'>;

  constructor(storage: Pick<Storage, 'threads'>) {
    this.#storage = storage;
  }

  /** False when there is no such thread. Deletes rows until `untilMs` (monotonic); the periodic task deletes the rest. */
  async delete(thread_id: string, access: RowFilter, untilMs: number): Promise<boolean> {
    if (!(await this.#storage.threads.delete(thread_id, access))) return false;
    await this.#sweep(thread_id, () => performance.now() < untilMs);
    return true;
  }

  /** Deletes the threads whose last run used this assistant. The periodic task deletes the remaining rows of large ones. */
  async deleteOfAssistant(assistant_id: string, access: RowFilter): Promise<void> {
    const { threads } = this.#storage;
    for (;;) {
      const ids = await threads.listOfAssistant(assistant_id, listedMax, access);
      if (ids.length === 0) return;
      while (ids.length > 0)
        await Promise.all(ids.splice(-atOnce).map((thread_id) => threads.delete(thread_id, access)));
    }
  }

  task(): PeriodicTask {
    return {
      name: 'remove what deleted threads have left',
      everyMs: sweepEveryMs,
      batch: threadsMax,
      work: async (signal) => {
        const deleted = await this.#storage.threads.listDeleted(threadsMax);
        for (const thread_id of deleted) await this.#sweep(thread_id, () => !signal.aborted);
        return deleted.length;
      },
    };
  }

  async #sweep(thread_id: string, mayGoOn: () => boolean): Promise<void> {
    while (mayGoOn() && (await this.#storage.threads.sweep(thread_id, batchRows)));
  }
}
