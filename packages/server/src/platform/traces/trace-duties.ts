// Chores of the trace store.
import type { Duty } from '../../leases/duties.ts';
import type { TracePartitionStorage } from '../../storage/trace-partitions.ts';

const minuteMs = 60_000;
const daysAhead = 2;
const batch = 5_000;

export const traceDuties = (partitions: TracePartitionStorage, daysKept: number): Duty[] => [
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
  { name: 'trace-orphans', everyMs: minuteMs, work: () => partitions.adoptLate(batch), batch },
];
