import { defineConfig } from 'vitest/config';
import { NotRun } from '../server/test/not-run.ts';
import { whyNoBrowser } from './clients/browser/availability.ts';
import { measureSlowdown, scaled } from '../server/test/speed.ts';
import { outcomeReporters } from '../server/test/test-outcome.ts';

measureSlowdown();

export default defineConfig({
  test: {
    root: import.meta.dirname,
    reporters: [
      'default',
      new NotRun([{ call: 'InBrowser(', need: 'a browser', why: whyNoBrowser }]),
      ...outcomeReporters(),
    ],
    include: ['{clients,hosts}/**/*.test.ts'],
    globalSetup: ['../server/test/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2, // a browser and servers each
    testTimeout: scaled(180_000),
    hookTimeout: scaled(180_000),
    teardownTimeout: scaled(60_000), // the end of PostgreSQL
  },
});
