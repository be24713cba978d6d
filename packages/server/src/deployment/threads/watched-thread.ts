// While a client reads the events of a thread, the thread's row has `watched_until` a minute ahead, and new runs of the thread are logged from
// their first event. Each renewal checks that the thread still exists for the reader.
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { ThreadStorage } from '../../storage/deployment/threads/threads.ts';

/** How long a thread counts as watched after a renewal, and how often readers renew it. */
const watchedMs = { for: 60_000, every: 20_000 };

type Threads = Pick<ThreadStorage, 'watch'>;

/** False when there is no such thread for the reader. */
export const watch = (threads: Threads, thread_id: string, access: RowFilter): Promise<boolean> =>
  threads.watch(thread_id, watchedMs.for, access);

/** Renews regularly, and calls `onGone` when the thread no longer exists for the reader. Returns a function that stops it. */
export const keepWatched = (
  threads: Threads,
  thread_id: string,
  access: RowFilter,
  onGone: () => void,
): (() => void) => {
  const renew = async (): Promise<void> => {
    if (!(await watch(threads, thread_id, access))) onGone();
  };
  // A failed renewal is harmless: the poll finds runs that were created meanwhile.
  const renewal = setInterval(() => void renew().catch(() => undefined), watchedMs.every);
  return () => clearInterval(renewal);
};
