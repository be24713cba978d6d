// Statistics over time.
import { type RunStatsPoint, statsPointsMax } from '@svc/contract';
import { type Intervals, intervalsOf, startTime } from '../../api/intervals.ts';
import type { IntervalSums } from '../../storage/tracing/trace-run-sums.ts';
import { microsOf, timeMs, timeOfMicros } from '../../api/time.ts';
import type { RunSelection } from './run-scope.ts';

export interface SeriesSelection extends RunSelection {
  interval_seconds?: number | undefined;
}

export interface Series extends Intervals {
  start_time: string;
  end_time: string;
}

const rangeDefault = 3_600_000_000n;
const yearOne = microsOf('0001-01-01T00:00:00.000000Z');

/** Throws invalid when the range ends before it starts, or has too many intervals. */
export const toSeries = (selection: SeriesSelection, nowMs: number): Series => {
  const end_time = selection.end_time ?? timeOfMicros(BigInt(nowMs) * 1_000n);
  const start_time = selection.start_time ?? defaultStart(end_time);
  const intervals = intervalsOf(
    { fromMs: timeMs(start_time), toMs: timeMs(end_time), seconds: selection.interval_seconds },
    { max: statsPointsMax, fields: { to: 'end_time', seconds: 'interval_seconds' }, includesEnd: true },
  );
  return { start_time, end_time, ...intervals };
};

/** An hour before the end, or the end itself where that is before the year 1, which is not a time. */
const defaultStart = (end_time: string): string => {
  const start = microsOf(end_time) - rangeDefault;
  return start < yearOne ? end_time : timeOfMicros(start);
};

/** Adds the intervals without trace runs. */
export const toPoints = (starts: readonly number[], sums: readonly IntervalSums[]): RunStatsPoint[] => {
  const found = new Map(sums.map(({ at, ...figures }) => [at, figures]));
  return starts.map((at) => ({
    start_time: startTime(at),
    ...(found.get(at) ?? none),
  }));
};

const none: Omit<RunStatsPoint, 'start_time'> = {
  run_count: 0,
  error_count: 0,
  latency_p50: null,
  latency_p99: null,
  first_token_p50: null,
  first_token_p99: null,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_cost: null,
  completion_cost: null,
  total_cost: null,
};
