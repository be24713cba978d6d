// Periodic tasks of exports.
import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { ExportLeaseStorage } from '../../storage/exports/export-leases.ts';

const everyMs = 5_000;
const batch = 50;

interface ScheduleRules {
  /** Delay between the end of a window and its export. */
  scheduleLagMs: number;
  /** Maximum number of unfinished exports of one schedule. */
  exportsPerWorkspace: number;
}

export const exportTasks = (
  leases: Pick<ExportLeaseStorage, 'spawn'>,
  { scheduleLagMs, exportsPerWorkspace }: ScheduleRules,
): PeriodicTask[] => [
  {
    name: 'export-schedules',
    everyMs,
    // Each call creates at most one export per schedule. A schedule that is behind gets the next one by the next call.
    work: () => leases.spawn(scheduleLagMs, exportsPerWorkspace, batch),
  },
];
