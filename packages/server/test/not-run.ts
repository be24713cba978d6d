// Reports tests that need more than Node and are not run, at the start and at the end of a test run.
import { readFileSync } from 'node:fs';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';

/** A file belongs to a kind when it calls the function that skips its tests. */
export interface KindOfTests {
  call: string;
  need: string;
  /** Why the tests are not run; undefined when they are. */
  why: () => string | undefined;
}

const contains = (file: string, call: string): boolean => readFileSync(file, 'utf8').includes(call);

const report = (text: string): void => void process.stderr.write(`\nNOT RUN: ${text}\n`);

export class NotRun implements Reporter {
  readonly #kinds: readonly KindOfTests[];

  constructor(kinds: readonly KindOfTests[]) {
    this.#kinds = kinds;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    for (const { call, need, why } of this.#kinds) {
      const reason = why();
      const files = specifications.filter(({ moduleId }) => contains(moduleId, call)).length;
      if (reason !== undefined && files > 0) report(`tests of ${files} files that need ${need} (${reason})`);
    }
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const { call, need, why } of this.#kinds) {
      const reason = why();
      const skipped = modules
        .filter(({ moduleId }) => contains(moduleId, call))
        .reduce((count, { children }) => count + [...children.allTests('skipped')].length, 0);
      if (reason !== undefined && skipped > 0) report(`${skipped} tests that need ${need} (${reason})`);
    }
  }
}
