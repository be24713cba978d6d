// Writes the outcome of a test run to the file that SVC_TEST_OUTCOME names, for scripts/suites/tests.ts.
import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export interface FailedTest {
  project: string;
  file: string;
  /** The names of its suites and its own, separated by spaces; absent when the whole file failed. */
  name?: string;
  errors: string;
}

export interface TestOutcome {
  passed: number;
  skipped: number;
  failed: FailedTest[];
  /** Errors that belong to no test. */
  unhandled: number;
}

const textOf = (errors: readonly SerializedError[]): string =>
  errors.map(({ message, stack, diff }) => [message, diff, stack].filter(Boolean).join('\n')).join('\n\n');

const failedIn = (module: TestModule): FailedTest[] => {
  const where = { project: module.project.name, file: module.moduleId };
  const tests = [...module.children.allTests('failed')].map((test) => {
    const names = [test.name];
    for (let parent = test.parent; parent.type === 'suite'; parent = parent.parent)
      names.unshift(parent.name);
    return { ...where, name: names.join(' '), errors: textOf(test.result().errors ?? []) };
  });
  if (tests.length > 0 || module.state() !== 'failed') return tests;
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  return [{ ...where, errors: textOf([...module.errors(), ...suites]) }];
};

class OutcomeReporter implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const count = (state: 'passed' | 'skipped'): number =>
      modules.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
    const outcome: TestOutcome = {
      passed: count('passed'),
      skipped: count('skipped'),
      failed: modules.flatMap(failedIn),
      unhandled: unhandled.length,
    };
    writeFileSync(this.#file, JSON.stringify(outcome));
  }
}

/** Empty when nobody asks for the outcome. */
export const outcomeReporters = (): Reporter[] => {
  const file = process.env['SVC_TEST_OUTCOME'];
  return file ? [new OutcomeReporter(file)] : [];
};
