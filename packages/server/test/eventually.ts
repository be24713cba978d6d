// Waits for conditions: returns as soon as they hold, and waits as long as a busy machine may need.
import { vi } from 'vitest';

/** Resolves with the result of `check` once it does not throw; rejects with its last error after `timeout` ms. */
export const eventually = <T>(check: () => T | Promise<T>, timeout = 40_000): Promise<T> =>
  vi.waitFor(check, { timeout, interval: 20 });
