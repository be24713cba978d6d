// Work that must happen once the database is back: tried until it succeeds, or until nobody waits any more.
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between tries. */
const retryMs = { first: 50, max: 2_000 };

export class RetriedWork {
  readonly #onError: (error: unknown) => void;
  readonly #running = new Set<Promise<void>>();
  #stopping = false;

  /** `onError` is called for each try that failed. Must not throw. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  start(work: () => Promise<void>): void {
    const trying = this.#try(work);
    this.#running.add(trying);
    void trying.finally(() => this.#running.delete(trying));
  }

  /** Each work has its current try, and no more after that. */
  stop(): void {
    this.#stopping = true;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #try(work: () => Promise<void>): Promise<void> {
    for (let delayMs = retryMs.first; ; delayMs = Math.min(delayMs * 2, retryMs.max)) {
      try {
        return await work();
      } catch (error) {
        this.#onError(error);
        if (this.#stopping) return;
        await sleep(delayMs);
      }
    }
  }
}
