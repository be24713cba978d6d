import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { CronStorage } from '../../storage/deployment/crons.ts';

const ticksMax = 1_000;

export const cronTasks = (crons: Pick<CronStorage, 'prune'>): PeriodicTask[] => [
  {
    name: 'forget ticks of crons',
    everyMs: 600_000,
    batch: ticksMax,
    work: () => crons.prune(ticksMax),
  },
];
