/**
 * Calls `act` once when the signal is aborted, and at once if it is aborted already: an `abort` listener that is added
 * too late never runs. Returns a function that removes the listener; a signal that outlives the work would keep it.
 */
export const onAbort = (signal: AbortSignal, act: () => void): (() => void) => {
  if (signal.aborted) {
    act();
    return () => undefined;
  }
  signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
};

/** Resolves when the signal is aborted. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => onAbort(signal, resolve));

/** Returns what `work` resolves to. Rejects with the signal's reason when the signal is aborted before. */
export const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (!signal) return work;
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = onAbort(signal, () => reject(signal.reason as Error));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop?.();
  }
};

/** A limit of time for some work, which the work disposes at its end. */
export interface TimeLimit extends Disposable {
  /** Aborted with a TimeoutError when the time is over, or with the other signal. */
  readonly signal: AbortSignal;
  /** True when the time is over and the work was not disposed before. */
  readonly isOver: boolean;
}

/**
 * Not `AbortSignal.any()` of an `AbortSignal.timeout()`: Node collects a timeout that only such a signal depends on as garbage, and then
 * the time never ends.
 */
export const timeLimit = (ms: number, signal?: AbortSignal): TimeLimit => {
  const late = new AbortController();
  const end = (): void =>
    late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(end, ms).unref();
  return {
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    get isOver() {
      return late.signal.aborted;
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
};
