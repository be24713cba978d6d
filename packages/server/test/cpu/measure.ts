// Notes the CPU of each test and file for the reporter: that of the worker and the processes that it has started. PostgreSQL, which all
// workers share, is not counted.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, type RunnerTestFile } from 'vitest';
import { treeCpuMs } from './process-cpu.ts';

declare module 'vitest' {
  interface TaskMeta {
    cpuMs?: number;
    /** The event loop is never idle after the file: something that it has started goes on without end. */
    isBusy?: boolean;
  }
}

/** Whether the event loop is never idle. Collections of garbage take less time. */
const isBusy = async (): Promise<boolean> => {
  for (let look = 0; look < 5; look++) {
    const before = performance.eventLoopUtilization();
    await sleep(20);
    if (performance.eventLoopUtilization(before).utilization < 0.95) return false;
  }
  return true;
};

const cpu = (): number => treeCpuMs(String(process.pid));

let fileBegan = 0;
let testBegan = 0;

beforeAll(() => {
  fileBegan = cpu();
});
beforeEach(() => {
  testBegan = cpu();
});
afterEach(({ task }) => {
  task.meta.cpuMs = cpu() - testBegan;
});
// oxlint-disable-next-line no-empty-pattern -- vitest demands a pattern for the fixtures, which come first
afterAll(async ({}, file) => {
  const { meta } = file as RunnerTestFile;
  meta.cpuMs = cpu() - fileBegan;
  meta.isBusy = await isBusy();
});
