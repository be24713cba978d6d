// Chores of exports.
import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { ExportLeaseStorage } from '../../storage/exports/export-leases.ts';

const everyMs = 5_000;
const batch = 50;

export interface ScheduleRules {
  /** How long after its end a window is exported. */
  scheduleLagMs: number;
  /** Exports of a schedule that is behind, at once. */
  exportsPerWorkspace: number;
}

export const exportTasks = (
  leases: Pick<ExportLeaseStorage, 'spawn'>,
  { scheduleLagMs, exportsPerWorkspace }: ScheduleRules,
): PeriodicTask[] => [
  {
    name: 'export-schedules',
    everyMs,
    // Each schedule gets one export at a time; one that is behind gets more while it is asked again.
    work: () => leases.spawn(scheduleLagMs, exportsPerWorkspace, batch),
  },
];
