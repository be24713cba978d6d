import { defineConfig } from 'vitest/config';
import { NotRun } from '../../packages/server/test/not-run.ts';
import { whyNoPrograms } from './programs.ts';
import { measureSlowdown, scaled } from '../../packages/server/test/speed.ts';
import { outcomeReporters } from '../../packages/server/test/test-outcome.ts';

measureSlowdown();

export default defineConfig({
  test: {
    root: import.meta.dirname,
    reporters: [
      'default',
      new NotRun([{ call: 'itWithPrograms(', need: 'programs of Debian', why: whyNoPrograms }]),
      ...outcomeReporters(),
    ],
    include: ['**/*.test.ts'],
    globalSetup: ['../../packages/server/test/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: scaled(60_000),
    hookTimeout: scaled(60_000),
    teardownTimeout: scaled(60_000), // the end of PostgreSQL
  },
});
