// The monotonic clock of this process, and so of the servers in it, which limit requests by it. A busy machine sends slowly, and the
// limits grow with time.
import { vi } from 'vitest';

/** Stops the clock until it is disposed. Start servers before. */
export const stopClock = (): Disposable => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  return { [Symbol.dispose]: () => clock.mockRestore() };
};
