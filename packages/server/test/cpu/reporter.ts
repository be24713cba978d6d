// Lists what the tests of a run cost: SVC_TEST_CPU=on npm test. The figures are those of measure.ts.
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const listed = 50;

/** A test that takes more CPU than this belongs in a *.slow.test.ts. */
const testCpuMsMax = 2_000;

interface Cost {
  name: string;
  cpuMs: number;
}

const dearest = (costs: Cost[], most: number): string =>
  costs
    .toSorted((one, other) => other.cpuMs - one.cpuMs)
    .slice(0, most)
    .map(({ name, cpuMs }) => `${(cpuMs / 1000).toFixed(1).padStart(7)}  ${name}`)
    .join('\n');

export class CpuReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files: Cost[] = [];
    const tests: Cost[] = [];
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      files.push({ name: file, cpuMs: module.meta().cpuMs ?? 0 });
      for (const test of module.children.allTests())
        tests.push({ name: `${file} > ${test.fullName}`, cpuMs: test.meta().cpuMs ?? 0 });
    }
    const slow = tests.filter(({ cpuMs }) => cpuMs > testCpuMsMax);
    const busy = modules.filter((module) => module.meta().isBusy === true);
    const seconds = files.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000;
    process.stdout.write(
      `\nCPU seconds without PostgreSQL: ${seconds.toFixed(0)}. The ${listed} most expensive files:\n` +
        `${dearest(files, listed)}\n\nTests above ${testCpuMsMax / 1000} s of CPU:\n${dearest(slow, slow.length) || '   none'}\n`,
    );
    for (const { moduleId } of busy)
      process.stdout.write(`${relative(process.cwd(), moduleId)} leaves work that never ends.\n`);
  }
}
