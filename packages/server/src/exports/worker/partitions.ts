// Splits the window of an export into partitions, one for each UTC day. Each partition becomes a partition run.
import type { Window } from '../../storage/exports/export-creation.ts';
import { microsOf, timeOfMicros } from '../../api/time.ts';

const dayMicros = 86_400_000_000n;

/** About ten years. */
export const partitionsMax = 3_660;

const dayOf = (micros: bigint): bigint => {
  const day = micros / dayMicros;
  return micros < day * dayMicros ? day - 1n : day;
};

/** Number of UTC days that the window overlaps. */
export const countPartitions = ({ start, end }: Window): number =>
  Number(dayOf(microsOf(end) - 1n) - dayOf(microsOf(start)) + 1n);

/** Splits the window at every midnight UTC. The partitions cover the window and do not overlap. */
export const partitionsOf = ({ start, end }: Window): Window[] => {
  const endMicros = microsOf(end);
  const partitions: Window[] = [];
  for (let from = microsOf(start); from < endMicros;) {
    const midnight = (dayOf(from) + 1n) * dayMicros;
    const to = midnight < endMicros ? midnight : endMicros;
    partitions.push({ start: timeOfMicros(from), end: timeOfMicros(to) });
    from = to;
  }
  return partitions;
};
