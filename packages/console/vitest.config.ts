import { defineConfig } from 'vitest/config';
import { whyNoBrowser } from '../acceptance/clients/browser/availability.ts';
import { NotRun } from '../server/test/not-run.ts';
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
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    pool: 'forks',
    isolate: false, // no module has mutable state: the files of a worker share its modules
    maxWorkers: 2, // a browser each
    testTimeout: scaled(90_000),
    hookTimeout: scaled(90_000),
    teardownTimeout: scaled(60_000), // the end of the server
    expect: { poll: { timeout: scaled(20_000), interval: 50 } },
  },
});
