// The time that the page of traces shows: of the starts of traces.
import { lastBefore, type TimeSpan, timeSpans, wholeIntervals, withinSpan } from '../plots/time-span.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Of the charts: 48 to 60 for each span, except the first. */
const intervalMs = { '15m': 15_000, '1h': minuteMs, '1d': hourMs / 2, '7d': 3 * hourMs } as const;
export const chartSpan = '1h';

const isoOf = (ms: number): string => new Date(ms).toISOString();

interface Bounds {
  start_time?: string;
  end_time?: string;
}

export const boundsOf = (time: TimeSpan, nowMs: number): Bounds => {
  const { fromMs, toMs } = withinSpan(time, nowMs);
  return {
    ...(fromMs === undefined ? {} : { start_time: isoOf(fromMs) }),
    ...(toMs === undefined ? {} : { end_time: lastBefore(toMs) }),
  };
};

/** The time of the charts, and the length of their intervals. */
export const chartRange = (time: TimeSpan, nowMs: number): Bounds & { interval_seconds?: number } => {
  if (time.from !== undefined || time.to !== undefined) return boundsOf(time, nowMs);
  const span = time.since ?? chartSpan;
  const { fromMs, toMs } = wholeIntervals({ spanMs: timeSpans[span], intervalMs: intervalMs[span] }, nowMs);
  return {
    start_time: isoOf(fromMs),
    end_time: lastBefore(toMs),
    interval_seconds: intervalMs[span] / 1_000,
  };
};
