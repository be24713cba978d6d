// An export is done by the UTC day: each partition is an export run, on its own and in parallel with others.
import type { Window } from '../../storage/exports/export-creation.ts';
import { microsOf, timeOfMicros } from '../../tracing/ingest/time.ts';

const dayMicros = 86_400_000_000n;

/** Ten years of days. */
export const partitionsMax = 3_660;

const dayOf = (micros: bigint): bigint => {
  const day = micros / dayMicros;
  return micros < day * dayMicros ? day - 1n : day;
};

/** How many UTC days the window touches. */
export const countPartitions = ({ start, end }: Window): number =>
  Number(dayOf(microsOf(end) - 1n) - dayOf(microsOf(start)) + 1n);

/** The window cut at every midnight of UTC: together they are the window, and none overlaps another. */
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
