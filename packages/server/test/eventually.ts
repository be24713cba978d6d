// Waiting for what comes about: as soon as it does, and for as long as a busy machine may need.
import { vi } from 'vitest';

/** Resolves with what `check` returns once it throws no more; rejects with what it threw last when `timeout` (ms) is over. */
export const eventually = <T>(check: () => T | Promise<T>, timeout = 40_000): Promise<T> =>
  vi.waitFor(check, { timeout, interval: 20 });
