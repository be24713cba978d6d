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
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
