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
