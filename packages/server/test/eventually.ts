// Waits for conditions: returns as soon as they hold, and waits as long as a busy machine may need.
import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { scaled } from './speed.ts';

/** Resolves with the result of `check` once it does not throw; rejects with its last error after `timeout` ms, scaled for this machine. */
export const eventually = <T>(check: () => T | Promise<T>, timeout = 40_000): Promise<T> =>
  vi.waitFor(check, { timeout: scaled(timeout), interval: 20 });

/** Resolves once the condition holds; rejects after `timeout` ms, scaled for this machine. */
export const until = async (condition: () => boolean | Promise<boolean>, timeout = 20_000): Promise<void> => {
  const deadline = performance.now() + scaled(timeout);
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition did not become true');
    await sleep(10);
  }
};
