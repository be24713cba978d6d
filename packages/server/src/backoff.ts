// How work is repeated: `retry` calls it again after a pause that doubles. A loop that looks for work regularly is a WorkerLoop
// (jobs/worker-loop.ts), and the database repeats single statements (storage/postgres/database.ts).
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. */
export interface BackoffTimes {
  first: number;
  max: number;
}

/**
 * Pauses that double with each call of next(), up to a maximum. Each is shortened by a random part of up to half, so that
 * many processes do not try again at the same moment.
 */
export class Backoff {
  readonly #times: BackoffTimes;
  #nextMs: number;

  constructor(times: BackoffTimes) {
    this.#times = times;
    this.#nextMs = times.first;
  }

  /** Milliseconds of the next pause. */
  next(): number {
    const ms = Math.min(this.#nextMs, this.#times.max);
    this.#nextMs = ms * 2;
    return ms * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#nextMs = this.#times.first;
  }
}

export interface RetryOptions {
  /** Pauses between tries. */
  pauseMs?: BackoffTimes;
  /** Milliseconds after the first failure in which the work is repeated. */
  forMs: number;
  /** Which errors are repeated; all when absent. */
  when?: (error: unknown) => boolean;
  /** Ends the repetition after one more try. A try that is under way is not interrupted. */
  signal?: AbortSignal;
  /** Called before each pause, to log the error. Must not throw. */
  onError?: (error: unknown) => void;
}

const retryPauseMs: BackoffTimes = { first: 50, max: 2_000 };

/**
 * Returns the result of the first try that succeeds, or throws the error of the last one. `work` gets the number of the try, from 1 on. The work
 * must be safe to repeat: an earlier try may have been stored although its response was lost.
 */
export const retry = async <T>(
  work: (tries: number) => Promise<T>,
  { pauseMs = retryPauseMs, forMs, when = () => true, signal, onError }: RetryOptions,
): Promise<T> => {
  const backoff = new Backoff(pauseMs);
  let untilMs: number | undefined;
  for (let tries = 1; ; tries++) {
    try {
      return await work(tries);
    } catch (error) {
      untilMs ??= performance.now() + forMs;
      if (!when(error) || signal?.aborted || performance.now() > untilMs) throw error;
      onError?.(error);
      await pause(backoff.next(), signal);
    }
  }
};

/** Resolves after `ms`, or as soon as the signal is aborted. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined); // an abort only ends the pause

/**
 * Waits for the promise, but resolves after `ms` at the latest, and as soon as the signal is aborted. Rejects if the promise rejects before
 * that. Leaves no timer behind.
 */
export const settledWithin = async (
  promise: Promise<unknown>,
  ms: number,
  signal?: AbortSignal,
): Promise<void> => {
  const settled = new AbortController();
  try {
    await Promise.race([promise, pause(ms, AbortSignal.any([settled.signal, ...(signal ? [signal] : [])]))]);
  } finally {
    settled.abort();
  }
};

/** What the promise resolves to; after `ms`, what `late` returns or throws. Leaves no timer behind. */
export const within = async <T, L>(promise: Promise<T>, ms: number, late: () => L): Promise<T | L> => {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<() => L>((resolve) => (timer = setTimeout(resolve, ms, late)));
  try {
    const first = await Promise.race([promise.then((value) => () => value), over]);
    return first();
  } finally {
    clearTimeout(timer);
  }
};
