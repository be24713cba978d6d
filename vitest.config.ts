import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { CpuReporter } from './packages/server/test/cpu/reporter.ts';
import { measureSlowdown, scaled } from './packages/server/test/speed.ts';
import { outcomeReporters } from './packages/server/test/test-outcome.ts';

measureSlowdown();

/** Prints what files and tests cost (Linux): SVC_TEST_CPU=on npm test. */
const measuresCpu = process.env['SVC_TEST_CPU'] === 'on';

const all = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'];

/** Kill, restart or overload processes, wait for leases and deadlines, or run models for long. */
const slow = 'packages/*/test/**/*.slow.test.ts';

/** Take minutes each. */
const faults = 'packages/server/test/faults/**/*.faults.test.ts';

/** Drive a browser: npm run test:console. */
const console = 'packages/console/test/**';

/** Compare with another server, which is installed first. */
const compatibility = 'packages/server/test/compatibility/**/*.compat.test.ts';

/** Of each project, not of the root: vitest would execute `globalSetup` once for the root and once for the project. */
const common = {
  globalSetup: ['packages/server/test/global-setup.ts'],
  setupFiles: measuresCpu ? ['packages/server/test/cpu/measure.ts'] : [],
  pool: 'forks',
  // No module has mutable state, so that the files of a worker can share its modules.
  isolate: false,
  // Generous for busy machines: tests continue as soon as their condition holds.
  testTimeout: scaled(60_000),
  hookTimeout: scaled(60_000),
  expect: { poll: { timeout: scaled(20_000), interval: 20 } },
} satisfies TestProjectInlineConfiguration['test'];

export default defineConfig({
  test: {
    // Keeps compiled modules in node_modules for the next test run. The cache does not notice changes of package.json, so only CI uses it.
    experimental: { fsModuleCache: process.env['SVC_TEST_MODULE_CACHE'] === '1' },
    reporters: [
      'default',
      './packages/server/test/s3/not-run-reporter.ts',
      ...outcomeReporters(),
      ...(measuresCpu ? [new CpuReporter()] : []),
    ],
    // The processes that tests start wait for leases, locks and deadlines: one worker for each core leaves a fifth of the time unused.
    maxWorkers: availableParallelism() + 1,
    teardownTimeout: scaled(60_000), // the end of PostgreSQL and of the S3
    projects: [
      {
        test: {
          ...common,
          name: 'fast',
          include: all,
          exclude: [...configDefaults.exclude, slow, faults, compatibility, console],
        },
      },
      { test: { ...common, name: 'slow', include: [slow] } },
      { test: { ...common, name: 'faults', include: [faults], testTimeout: scaled(180_000) } },
      { test: { ...common, name: 'compatibility', include: [compatibility], testTimeout: scaled(300_000) } },
    ],
  },
});
