// Reports tests that need more than Node and are not run, at the start and at the end of a test run.
import { readFileSync } from 'node:fs';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';
import { whyNoShell } from '../documentation/programs.ts';
import { whyNoS3 } from './availability.ts';

/** A file belongs to a kind when it calls the function that skips its tests. */
const kinds = [
  { call: 'describeS3(', need: 'an S3', why: whyNoS3 },
  { call: 'itInShell(', need: 'a shell with its programs', why: whyNoShell },
];

const contains = (file: string, call: string): boolean => readFileSync(file, 'utf8').includes(call);

const report = (text: string): void => void process.stderr.write(`\nNOT RUN: ${text}\n`);

export default class NotRunReporter implements Reporter {
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    for (const { call, need, why } of kinds) {
      const reason = why();
      const files = specifications.filter(({ moduleId }) => contains(moduleId, call)).length;
      if (reason !== undefined && files > 0) report(`tests of ${files} files that need ${need} (${reason})`);
    }
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const { call, need, why } of kinds) {
      const reason = why();
      const skipped = modules
        .filter(({ moduleId }) => contains(moduleId, call))
        .reduce((count, { children }) => count + [...children.allTests('skipped')].length, 0);
      if (reason !== undefined && skipped > 0) report(`${skipped} tests that need ${need} (${reason})`);
    }
  }
}
