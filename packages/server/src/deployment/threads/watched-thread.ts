// A thread that has a reader of its events. The row of the thread has `watched_until`, which readers renew to a minute ahead. While it is in the
// future, new runs of the thread are logged from their first event. Each renewal checks that the thread still exists for the reader.
import { onAbort } from '../../abort.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { ThreadStorage } from '../../storage/deployment/threads/threads.ts';

/** How long a thread counts as watched after a renewal, and how often readers renew it. */
const watchedMs = { for: 60_000, every: 20_000 };

export interface ThreadReader {
  thread_id: string;
  access: RowFilter;
}

export class WatchedThreads {
  readonly #threads: Pick<ThreadStorage, 'watch'>;
  readonly #pollMs: number;
  /** Wakes the readers of a thread when a run was created on it. */
  readonly #wakes = new Map<string, Set<() => void>>();

  /** Notifications may be lost, so a wait ends after a poll interval too. */
  constructor(threads: Pick<ThreadStorage, 'watch'>, notifications: NotificationBus, pollMs: number) {
    this.#threads = threads;
    this.#pollMs = pollMs;
    notifications.on('t', (thread_id) => {
      for (const wake of this.#wakes.get(thread_id) ?? []) wake();
    });
  }

  /** Marks the thread as watched. False when there is no such thread for the reader. */
  watch({ thread_id, access }: ThreadReader): Promise<boolean> {
    return this.#threads.watch(thread_id, watchedMs.for, access);
  }

  /** `leave`: the reader has left. */
  open(reader: ThreadReader, leave: AbortSignal): WatchedThread {
    const { thread_id } = reader;
    const wakes = this.#wakes.get(thread_id) ?? new Set();
    this.#wakes.set(thread_id, wakes);
    const thread = new WatchedThread({ watch: () => this.watch(reader), pollMs: this.#pollMs, leave }, () => {
      wakes.delete(thread.wake);
      if (wakes.size === 0 && this.#wakes.get(thread_id) === wakes) this.#wakes.delete(thread_id);
    });
    wakes.add(thread.wake);
    return thread;
  }
}

interface WatchedThreadOptions {
  watch: () => Promise<boolean>;
  pollMs: number;
  leave: AbortSignal;
}

export class WatchedThread implements Disposable {
  readonly #options: WatchedThreadOptions;
  readonly #stop = new AbortController();
  readonly #onClose: () => void;
  #renewal: NodeJS.Timeout | undefined;
  #isWoken = false;
  #resume: () => void = () => undefined;

  constructor(options: WatchedThreadOptions, onClose: () => void) {
    this.#options = options;
    const removeListener = onAbort(options.leave, () => this.#stop.abort());
    this.#onClose = () => {
      removeListener();
      onClose();
    };
  }

  /** Aborted when the reader has left, or the thread no longer exists for it. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends the wait under way, or the next one. */
  readonly wake = (): void => {
    this.#isWoken = true;
    this.#resume();
  };

  /** Waits until the thread exists for the reader, or the reader has left. Keeps the thread watched from then on. */
  async untilReadable(): Promise<void> {
    while (!this.stop.aborted && !(await this.#options.watch())) await this.wait();
    this.keepWatched();
  }

  /** Renews the watch regularly. */
  keepWatched(): void {
    this.#renewal = setInterval(() => void this.#renew(), watchedMs.every);
  }

  /** Resolves when a run was created since the last wait, a poll is due, the reader has left, or `until` settles. */
  async wait(until?: Promise<unknown>): Promise<void> {
    if (!this.#isWoken && !this.stop.aborted)
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(poll);
          stopWaiting();
          resolve();
        };
        this.#resume = done;
        const poll = setTimeout(done, this.#options.pollMs);
        const stopWaiting = onAbort(this.stop, done);
        until?.then(done, done);
      });
    this.#resume = () => undefined;
    this.#isWoken = false;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#renewal);
    this.#onClose();
  }

  async #renew(): Promise<void> {
    // If a renewal fails, the reader continues: its poll finds new runs, and the next renewal tries again.
    if (!(await this.#options.watch().catch(() => true))) this.#stop.abort();
  }
}
