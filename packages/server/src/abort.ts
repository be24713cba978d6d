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
