// Writes to the database that no caller awaits, such as the outcome of a run whose executor was lost.
import type { Logger } from 'pino';
import { retry } from '../backoff.ts';

/** How long a write is repeated. Leases end before, so that other workers continue the work. */
const repeatMs = 10 * 60_000;

export interface BackgroundWriteOptions {
  logger: Pick<Logger, 'error'>;
  /** Logged with each try that failed. */
  message: string;
  /** Called for each try that failed. `abandoned`: it was the last one. Must not throw. */
  onFailure?: ((result: 'repeated' | 'abandoned') => void) | undefined;
  /** Milliseconds after the first failure in which a write is repeated. */
  forMs?: number;
}

export class BackgroundWrites implements AsyncDisposable {
  readonly #options: BackgroundWriteOptions;
  readonly #running = new Set<Promise<boolean>>();
  readonly #stopping = new AbortController();

  constructor(options: BackgroundWriteOptions) {
    this.#options = options;
  }

  /** Writes under way. */
  get size(): number {
    return this.#running.size;
  }

  /** Repeats the write until it succeeds, for ten minutes, or until one more try has failed after stop(). Never rejects: resolves with false when it was abandoned. */
  start(write: () => Promise<unknown>, fields: object = {}): Promise<boolean> {
    const { logger, message, onFailure, forMs = repeatMs } = this.#options;
    const running = retry(write, {
      forMs,
      signal: this.#stopping.signal,
      onError: (error) => {
        logger.error({ err: error, ...fields }, `${message}, retrying`);
        onFailure?.('repeated');
      },
    })
      .then(
        () => true,
        (error: unknown) => {
          logger.error({ err: error, ...fields }, `${message}, abandoned after the last try`);
          onFailure?.('abandoned');
          return false;
        },
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
