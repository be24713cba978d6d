import { onAbort } from '../../abort.ts';

/** How long one call of a store may take, with all its retries, however little of it gets on. */
export class DeadlineError extends Error {
  override readonly name = 'TimeoutError';

  constructor(ms: number) {
    super(`not done within ${ms} ms`);
  }
}

/**
 * The work's signal is aborted with the given one, or after a time, and then it is waited for no longer: a library that
 * pauses before it tries again does not look at its signal until then. Nothing is left behind on the given one.
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
  const given = new Promise<never>((_, reject) => {
    onAbort(controller.signal, () => reject(controller.signal.reason as Error));
  });
  try {
    return await Promise.race([work(controller.signal), given]);
  } finally {
    clearTimeout(timer);
    stopWaiting();
  }
};
