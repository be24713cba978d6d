// Reports tests that need an S3 and are not run, at the start and at the end of a test run.
import { readFileSync } from 'node:fs';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';
import { whyNoS3 } from './availability.ts';

const needsS3 = (file: string): boolean => readFileSync(file, 'utf8').includes('describeS3(');

const report = (text: string): void => void process.stderr.write(`\nNOT RUN: ${text}\n`);

export default class NotRunReporter implements Reporter {
  onTestRunStart(specifications: readonly TestSpecification[]): void {
    const reason = whyNoS3();
    const files = specifications.filter(({ moduleId }) => needsS3(moduleId)).length;
    if (reason !== undefined && files > 0) report(`tests of ${files} files that need an S3 (${reason})`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const reason = whyNoS3();
    const skipped = modules
      .filter(({ moduleId }) => needsS3(moduleId))
      .reduce((count, { children }) => count + [...children.allTests('skipped')].length, 0);
    if (reason !== undefined && skipped > 0) report(`${skipped} tests that need an S3 (${reason})`);
  }
}
