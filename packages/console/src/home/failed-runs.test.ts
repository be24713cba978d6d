import { expect, it } from 'vitest';
import { failedCrons, type CronFailures } from './failed-runs.tsx';

const cron = (cronId: string, ...statuses: CronFailures['runs'][number]['status'][]): CronFailures => ({
  cronId,
  runs: statuses.map((status) => ({ status })),
});

it('finds crons whose newest runs have all failed', () => {
  const found = failedCrons(
    [
      cron('all failed', 'error', 'timeout', 'error'),
      cron('one succeeded', 'error', 'success', 'error'),
      cron('too few', 'error', 'error'),
    ],
    3,
  );
  expect(found.map(({ cronId }) => cronId)).toEqual(['all failed']);
});
