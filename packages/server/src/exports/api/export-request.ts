// Validates a request for an export, and computes its window, its partitions and the condition of its filter.
import type { ExportCreate } from '@svc/contract';
import { invalid } from '@svc/contract/problem';
import type { TraceRunCondition } from '../../storage/tracing/trace-condition.ts';
import type { Window } from '../../storage/exports/export-creation.ts';
import { FilterError, filterProblem } from '../../tracing/filter/parse.ts';
import { parseFilter } from '../../tracing/filter/parse-filter.ts';
import { microsOf, timeOfMicros } from '../../api/time.ts';

const hourMicros = 3_600_000_000n;

/** Range of the start times that exports accept. */
const earliest = microsOf('1000-01-01T00:00:00.000000Z');
const latest = microsOf('9999-12-31T00:00:00.000000Z');

export interface ExportRequest {
  /** For a schedule, the first window. */
  window: Window;
  isSchedule: boolean;
  partitions: Window[];
  condition: TraceRunCondition | null;
}

/** Throws `invalid` with the path of the invalid field. */
export const readExportRequest = (body: ExportCreate): ExportRequest => {
  const { interval_hours, filter } = body;
  const isSchedule = interval_hours !== undefined;
  const start = timeOf(body.start_time, 'start_time');
  if (isSchedule && body.end_time !== undefined)
    throw invalid(
      ['body', 'end_time'],
      'end_time must not be given together with interval_hours; leave out one of them',
    );
  if (!isSchedule && body.end_time === undefined)
    throw invalid(['body', 'end_time'], 'end_time is required, except for a schedule (interval_hours)');
  const end =
    body.end_time === undefined
      ? start + BigInt(interval_hours ?? 0) * hourMicros
      : timeOf(body.end_time, 'end_time');
  if (isSchedule && end > latest)
    throw invalid(['body', 'start_time'], 'start_time plus interval_hours must not be after the year 9999');
  if (end <= start) throw invalid(['body', 'end_time'], 'end_time must be after start_time');
  const window = { start: timeOfMicros(start), end: timeOfMicros(end) };
  const count = countPartitions(window);
  if (count > partitionsMax)
    throw invalid(
      ['body', 'end_time'],
      `The window has ${count} days; an export may have at most ${partitionsMax}. Create several exports`,
    );
  return { window, isSchedule, partitions: partitionsOf(window), condition: conditionOf(filter) };
};

const timeOf = (text: string, name: string): bigint => {
  const micros = microsOf(text);
  if (micros < earliest || micros > latest)
    throw invalid(['body', name], `${name} must be a time between the years 1000 and 9999`);
  return micros;
};

const conditionOf = (filter: string | undefined): TraceRunCondition | null => {
  if (filter === undefined) return null;
  try {
    return parseFilter(filter);
  } catch (error) {
    throw error instanceof FilterError ? filterProblem(error, 'filter') : error;
  }
};

// Splits the window of an export into partitions, one for each UTC day. Each partition becomes a partition run.

const dayMicros = 86_400_000_000n;

/** About ten years. */
const partitionsMax = 3_660;

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
