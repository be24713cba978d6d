import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const all = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'];

/** Kill, restart or overload processes, wait for leases and deadlines, or run models for long. */
const slow = 'packages/*/test/**/*.slow.test.ts';

/** Take minutes each, and the machine for themselves. */
const faults = 'packages/server/test/faults/**/*.faults.test.ts';

export default defineConfig({
  test: {
    globalSetup: ['packages/server/test/global-setup.ts'],
    reporters: ['default', './packages/server/test/s3/not-run-reporter.ts'],
    pool: 'forks',
    // No module has mutable state, so that the files of a worker can share its modules.
    isolate: false,
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Generous for busy machines: tests continue as soon as their condition holds.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: { name: 'fast', include: all, exclude: [...configDefaults.exclude, slow, faults] },
      },
      { extends: true, test: { name: 'slow', include: [slow] } },
      {
        extends: true,
        test: { name: 'faults', include: [faults], fileParallelism: false, testTimeout: 180_000 },
      },
    ],
  },
});
