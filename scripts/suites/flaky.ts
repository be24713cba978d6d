// The list of flaky tests: those that failed, and passed when they were run again alone. The gate and test:everything run many suites and
// stop when there are too many in all of them.
//
// tsx scripts/suites/flaky.ts    prints the list; fails when it is too long
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** More flaky tests than this fail a run. */
export const flakyMax = 3;

/** Has the list, and the outputs of both runs of each test. */
export const flakyFolder = (): string =>
  process.env['SVC_FLAKY_FOLDER'] ?? fileURLToPath(new URL('../../build/flaky', import.meta.url));

const list = (): string => join(flakyFolder(), 'list.txt');

export const recordFlaky = (title: string): void => appendFileSync(list(), `${title}\n`);

export const flakyTests = (): string[] =>
  existsSync(list()) ? readFileSync(list(), 'utf8').split('\n').filter(Boolean) : [];

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const tests = flakyTests();
  for (const title of tests) process.stdout.write(`flaky: ${title}\n`);
  process.stdout.write(`${tests.length} flaky tests; at most ${flakyMax} do not stop a landing.\n`);
  process.exitCode = tests.length > flakyMax ? 1 : 0;
}
