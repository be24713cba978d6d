import { onAbort } from '../abort.ts';

/** A call of a store, with all its retries, exceeded its time limit. */
export class DeadlineError extends Error {
  override readonly name = 'TimeoutError';

  constructor(ms: number) {
    super(`not finished within ${ms} ms`);
  }
}

/**
 * Runs `work` with a signal that is aborted with `signal` or after `ms`. After the abort the result rejects at once, without waiting for
 * `work`: a library that pauses between retries checks its signal only after the pause. No listener remains on `signal`.
 */
export const withDeadline = async <T>(
  signal: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  signal.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new DeadlineError(ms)), ms);
  const stopWaiting = onAbort(signal, () => controller.abort(signal.reason));
  const aborted = new Promise<never>((_, reject) => {
    onAbort(controller.signal, () => reject(controller.signal.reason as Error));
  });
  try {
    return await Promise.race([work(controller.signal), aborted]);
  } finally {
    clearTimeout(timer);
    stopWaiting();
  }
};
