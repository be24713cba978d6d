// Writes to the database that no caller awaits, such as the outcome of a run whose executor was lost.
import type { Logger } from 'pino';
import { retryWhileUnavailable } from './retry.ts';

export class BackgroundWrites implements AsyncDisposable {
  readonly #logger: Pick<Logger, 'error'>;
  readonly #message: string;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  /** `message` is logged with each try that failed. */
  constructor(logger: Pick<Logger, 'error'>, message: string) {
    this.#logger = logger;
    this.#message = message;
  }

  /** Writes under way. */
  get size(): number {
    return this.#running.size;
  }

  /** Repeats the write until it succeeds, or until one more try has failed after stop(). Never rejects. */
  start(write: () => Promise<unknown>, fields: object = {}): Promise<void> {
    const running = retryWhileUnavailable(write, {
      signal: this.#stopping.signal,
      when: () => true,
      onError: (error) => this.#logger.error({ err: error, ...fields }, this.#message),
    })
      .then(
        () => undefined,
        () => undefined, // it is logged
      )
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  /** Resolves when the writes under way have succeeded. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Each write gets one more try. */
  stop(): void {
    this.#stopping.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.settled();
  }
}
