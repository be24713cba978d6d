import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    globalSetup: ['../server/test/global-setup.ts'],
    pool: 'forks',
    // A browser and a server each.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000, interval: 50 } },
  },
});
