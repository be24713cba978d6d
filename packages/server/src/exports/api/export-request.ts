// From what a client asks for to what is exported: the window, its partitions, the filter.
import type { ExportCreate } from '@svc/contract';
import { invalid } from '@svc/contract/problem';
import type { TraceRunCondition } from '../../storage/tracing/trace-condition.ts';
import type { Window } from '../../storage/exports/export-creation.ts';
import { FilterError, filterProblem } from '../../tracing/filter/filter-error.ts';
import { readFilter } from '../../tracing/filter/read-filter.ts';
import { microsOf, timeOfMicros, toTime } from '../../tracing/ingest/time.ts';
import { countPartitions, partitionsMax, partitionsOf } from '../worker/partitions.ts';

const hourMicros = 3_600_000_000n;

/** What the store takes for times of runs. */
const earliest = microsOf('1000-01-01T00:00:00.000000Z');
const latest = microsOf('9999-12-31T00:00:00.000000Z');

export interface ExportRequest {
  /** Of a schedule, the first. */
  window: Window;
  isSchedule: boolean;
  partitions: Window[];
  condition: TraceRunCondition | null;
}

/** Throws `invalid` with where the mistake is. */
export const readExportRequest = (body: ExportCreate): ExportRequest => {
  const { interval_hours, filter } = body;
  const isSchedule = interval_hours !== undefined;
  const start = timeOf(body.start_time, 'start_time');
  if (isSchedule && body.end_time !== undefined)
    throw invalid(['body', 'end_time'], 'end_time is not for schedules: leave it out, or interval_hours');
  if (!isSchedule && body.end_time === undefined)
    throw invalid(['body', 'end_time'], 'end_time is needed, unless interval_hours makes it a schedule');
  const end =
    body.end_time === undefined
      ? start + BigInt(interval_hours ?? 0) * hourMicros
      : timeOf(body.end_time, 'end_time');
  if (isSchedule && end > latest)
    throw invalid(['body', 'start_time'], 'The first window of the schedule ends after the year 9999');
  if (end <= start) throw invalid(['body', 'end_time'], 'end_time must be after start_time');
  const window = { start: timeOfMicros(start), end: timeOfMicros(end) };
  const count = countPartitions(window);
  if (count > partitionsMax)
    throw invalid(
      ['body', 'end_time'],
      `From start_time to end_time there are ${count} days, and an export may have ${partitionsMax}: make several`,
    );
  return { window, isSchedule, partitions: partitionsOf(window), condition: conditionOf(filter) };
};

const timeOf = (text: string, name: string): bigint => {
  const time = toTime(text);
  const micros = time === undefined ? undefined : microsOf(time);
  if (micros === undefined || micros < earliest || micros > latest)
    throw invalid(['body', name], `${name} is not a time between the years 1000 and 9999`);
  return micros;
};

const conditionOf = (filter: string | undefined): TraceRunCondition | null => {
  if (filter === undefined) return null;
  try {
    return readFilter(filter);
  } catch (error) {
    throw error instanceof FilterError ? filterProblem(error, 'filter') : error;
  }
};
