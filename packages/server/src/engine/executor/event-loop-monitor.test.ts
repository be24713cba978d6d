import { afterEach, describe, expect, it } from 'vitest';
import type { EventLoopReport } from '../dispatch/protocol.ts';
import { EventLoopMonitor } from './event-loop-monitor.ts';

let monitor: EventLoopMonitor;
afterEach(() => monitor.setRunning(0));

const start = (): EventLoopReport[] => {
  const reports: EventLoopReport[] = [];
  monitor = new EventLoopMonitor((report) => reports.push(report));
  return reports;
};
const block = (ms: number): void => {
  for (const untilMs = performance.now() + ms; performance.now() < untilMs;);
};
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

describe('a monitor of the event loop', () => {
  it('reports nothing while no run executes', async () => {
    const reports = start();
    monitor.setRunning(1);
    monitor.setRunning(0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(reports).toEqual([]);
  });

  it('reports after one turn of an event loop that was blocked', async () => {
    const reports = start();
    const startedMs = performance.now();
    monitor.setRunning(7);
    block(400);
    while (reports.length === 0) await turn();
    const elapsedMs = performance.now() - startedMs;
    expect(reports).toEqual([
      {
        running: 7,
        delayMs: expect.any(Number) as number,
        utilization: expect.closeTo(1, 1) as number,
        isHeapFull: false,
        silentMs: 0,
      },
    ]);
    // Its timer was due after 50 ms.
    expect(reports[0]!.delayMs).toBeGreaterThan(349);
    expect(reports[0]!.delayMs).toBeLessThanOrEqual(elapsedMs - 50);
  });

  it('reports that it mostly waits', async () => {
    const reports = start();
    monitor.setRunning(1);
    await expect.poll(() => reports.at(-1)?.utilization).toBeLessThan(0.5);
  });

  it('reports that it is on time again', async () => {
    const reports = start();
    monitor.setRunning(1);
    block(400);
    await expect.poll(() => reports.at(-1)?.delayMs).toBeLessThan(100);
  });
});
