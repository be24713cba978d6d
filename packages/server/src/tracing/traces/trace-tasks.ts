// Periodic tasks of the trace store.
import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { FeedbackStorage } from '../../storage/tracing/feedback.ts';
import type { ProjectStorage } from '../../storage/tracing/projects.ts';
import type { TraceHourStorage } from '../../storage/tracing/trace-hours.ts';
import type { TracePartitionStorage } from '../../storage/tracing/trace-partitions.ts';

const minuteMs = 60_000;
const daysAhead = 2;
const batch = 5_000;
/**
 * Time without writes of the executor after which a pending trace run of an ended run is ended. A living executor stores the end within
 * seconds, unless traces cannot be stored.
 */
const quietMs = 120_000;

const hoursBatch = 200;
/** Sums of an hour are stored when it has not changed for this time. */
const quietSeconds = 60;

export interface TraceTaskParts {
  partitions: TracePartitionStorage;
  hours: TraceHourStorage;
  projects: Pick<ProjectStorage, 'sweep'>;
  feedback: Pick<FeedbackStorage, 'deleteExpired'>;
}

export const traceTasks = (
  { partitions, hours, projects, feedback }: TraceTaskParts,
  daysKept: number,
): PeriodicTask[] => [
  {
    name: 'trace-days',
    everyMs: 60 * minuteMs,
    work: async () => {
      await partitions.addAhead(daysAhead);
      return 0;
    },
  },
  {
    name: 'trace-retention',
    everyMs: 15 * minuteMs,
    work: async () => ((await partitions.dropOldest(daysKept)) ? 1 : 0),
  },
  {
    name: 'trace-leftovers',
    everyMs: 15 * minuteMs,
    work: () => partitions.deleteOld(daysKept, batch),
    batch,
  },
  {
    name: 'trace-feedback',
    everyMs: 15 * minuteMs,
    work: () => feedback.deleteExpired(daysKept, batch),
    batch,
  },
  {
    name: 'trace-moves',
    everyMs: 15 * minuteMs,
    work: () => partitions.deleteMoves(batch),
    batch,
  },
  {
    name: 'trace-lost-runs',
    everyMs: minuteMs / 2,
    work: () => partitions.endLost(quietMs, batch),
    batch,
  },
  {
    name: 'trace-deleted-projects',
    everyMs: minuteMs / 4,
    work: () => projects.sweep(null, batch),
    batch,
  },
  { name: 'trace-orphans', everyMs: minuteMs, work: () => partitions.adoptLate(batch), batch },
  {
    name: 'trace-hours',
    everyMs: minuteMs,
    work: () => hours.fold(quietSeconds, hoursBatch),
    batch: hoursBatch,
  },
];
