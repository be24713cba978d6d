// Repeats work while the database is unavailable.
import { Backoff, pause, type BackoffTimes } from '../backoff.ts';
import { isUnavailable } from '../storage/postgres/sql-state.ts';

export interface RetryOptions {
  /** Pauses between tries. */
  pauseMs?: BackoffTimes;
  /** Milliseconds after the first failure in which the work is repeated; no limit when absent. */
  forMs?: number;
  /** Ends the repetition: the error of the last try is thrown. A try that is under way is not interrupted. */
  signal?: AbortSignal;
  /** Which errors are repeated; those of an unavailable database when absent. */
  when?: (error: unknown) => boolean;
  /** Called before each pause, to log the error. Must not throw. */
  onError?: (error: unknown) => void;
}

const defaultPauseMs: BackoffTimes = { first: 50, max: 2_000 };

/**
 * Returns the result of the first try that succeeds. `work` gets the number of the try, from 1 on. The work must be safe to repeat: an
 * earlier try may have been stored although its response was lost.
 */
export const retryWhileUnavailable = async <T>(
  work: (tries: number) => Promise<T>,
  { pauseMs = defaultPauseMs, forMs = Infinity, signal, when = isUnavailable, onError }: RetryOptions = {},
): Promise<T> => {
  const backoff = new Backoff(pauseMs);
  let untilMs: number | undefined;
  for (let tries = 1; ; tries++) {
    try {
      return await work(tries);
    } catch (error) {
      untilMs ??= performance.now() + forMs;
      if (!when(error)) throw error;
      onError?.(error);
      if (performance.now() > untilMs || signal?.aborted) throw error;
      await pause(backoff.next(), signal);
    }
  }
};
