// Signals readers of a thread that a run was created on it. Notifications may be lost, so a wait ends after a poll interval too.
import { onAbort } from '../../abort.ts';
import type { NotificationBus } from '../../jobs/notification-bus.ts';

export interface ThreadSignal {
  /** Resolves when a run was created since the last wait, a poll is due, `stop` is aborted, or `until` settles. */
  wait(stop: AbortSignal, until?: Promise<unknown>): Promise<void>;
  close(): void;
}

export class ThreadSignals {
  readonly #pollMs: number;
  readonly #wakes = new Map<string, Set<() => void>>();

  constructor(notifications: NotificationBus, pollMs: number) {
    this.#pollMs = pollMs;
    notifications.on('t', (thread_id) => {
      for (const wake of this.#wakes.get(thread_id) ?? []) wake();
    });
  }

  open(thread_id: string): ThreadSignal {
    const wakes = this.#wakes.get(thread_id) ?? new Set();
    this.#wakes.set(thread_id, wakes);
    let isSet = false;
    let resume = (): void => undefined;
    const wake = (): void => {
      isSet = true;
      resume();
    };
    wakes.add(wake);
    return {
      wait: async (stop, until) => {
        if (!isSet && !stop.aborted)
          await new Promise<void>((resolve) => {
            const done = (): void => {
              clearTimeout(poll);
              stopWaiting();
              resolve();
            };
            resume = done;
            const poll = setTimeout(done, this.#pollMs);
            const stopWaiting = onAbort(stop, done);
            until?.then(done, done);
          });
        resume = () => undefined;
        isSet = false;
      },
      close: () => {
        wakes.delete(wake);
        if (wakes.size === 0 && this.#wakes.get(thread_id) === wakes) this.#wakes.delete(thread_id);
      },
    };
  }
}
