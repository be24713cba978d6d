import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    // Faults take minutes, and the machine for themselves: npm run test:faults.
    exclude: [
      ...configDefaults.exclude,
      ...(process.env['SVC_FAULT_ROUNDS'] ? [] : ['packages/server/test/faults/**']),
    ],
    globalSetup: ['packages/server/test/global-setup.ts'],
    reporters: ['default', './packages/server/test/s3/not-run-reporter.ts'],
    pool: 'forks',
    // Tests wait more than they compute: for servers to start, leases to expire, processes to die.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // For a busy machine: tests go on as soon as what they wait for has come about.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 20 } },
  },
});
