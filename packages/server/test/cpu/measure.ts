// Notes the CPU of each test and file for the reporter: that of the worker and the processes that it has started. PostgreSQL, which all
// workers share, is not counted.
import { afterAll, afterEach, beforeAll, beforeEach, type RunnerTestFile } from 'vitest';
import { treeCpuMs } from './process-cpu.ts';

declare module 'vitest' {
  interface TaskMeta {
    cpuMs?: number;
  }
}

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
afterAll(({}, file) => {
  (file as RunnerTestFile).meta.cpuMs = cpu() - fileBegan;
});
