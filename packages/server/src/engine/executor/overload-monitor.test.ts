import { afterEach, describe, expect, it } from 'vitest';
import { OverloadMonitor } from './overload-monitor.ts';

let monitor: OverloadMonitor;
afterEach(() => monitor.setRunning(0));

const start = (): boolean[] => {
  const reports: boolean[] = [];
  monitor = new OverloadMonitor((isOverloaded) => reports.push(isOverloaded));
  return reports;
};
const block = (ms: number): void => {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
};
/** Timers of a test would run while the event loop is blocked. */
const blockUntil = async (isEnough: () => boolean): Promise<void> => {
  while (!isEnough()) {
    block(300);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};

describe('an overload monitor', () => {
  it('reports nothing while no run executes', async () => {
    const reports = start();
    monitor.setRunning(1);
    monitor.setRunning(0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(reports).toEqual([]);
  });

  it('reports an event loop that is late, and when it is on time again', async () => {
    const reports = start();
    monitor.setRunning(1);
    await blockUntil(() => reports.includes(true));
    await expect.poll(() => reports.at(-1)).toBe(false);
  });
});
