import { defineConfig } from 'vitest/config';
import { whyNoBrowser } from '../acceptance/clients/browser/availability.ts';
import { NotRun } from '../server/test/not-run.ts';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    reporters: ['default', new NotRun([{ call: 'InBrowser(', need: 'a browser', why: whyNoBrowser }])],
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    pool: 'forks',
    isolate: false, // no module has mutable state: the files of a worker share its modules
    maxWorkers: 2, // a browser each
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 20_000, interval: 50 } },
  },
});
