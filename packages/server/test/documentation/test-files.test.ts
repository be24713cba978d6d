// Each test file is executed by a suite: by `npm test`, or by one of those that `npm run test:everything` runs.
import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { suites } from '../../../../scripts/suites/suites.ts';
import { repository } from './pages.ts';

/** The files of each configuration of vitest. */
const executed = [
  /^packages\/[^/]+\/(src|test)\/.*\.test\.ts$/, // vitest.config.ts, in one of its projects
  /^packages\/acceptance\/(clients|hosts)\/.*\.test\.ts$/,
  /^deploy\/test\/.*\.test\.ts$/,
];

it('every test file belongs to a configuration of vitest', () => {
  const files = execFileSync('git', ['ls-files', '*.test.ts', '*.test.tsx', '*.test.js', '*.test.mjs'], {
    cwd: repository,
    encoding: 'utf8',
  })
    .trim()
    .split('\n');
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => !executed.some((pattern) => pattern.test(file)))).toEqual([]);
});

it('every project and configuration of vitest belongs to test:everything', () => {
  const commands = suites.map(({ command }) => command.join(' ')).join('\n');
  for (const part of ['fast', 'slow', 'faults', 'compatibility'])
    expect(commands).toContain(`--project ${part}`);
  for (const part of ['test:console', 'test:acceptance', 'test:deploy', 'test:engines'])
    expect(commands).toContain(part);
});
