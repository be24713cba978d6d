// The time that the page of traces shows: of the starts of traces.
import { lastBefore } from '../plots/last-before.ts';
import { wholeIntervals } from '../plots/whole-intervals.ts';

export interface TraceTime {
  since?: '15m' | '1h' | '1d' | '7d' | undefined;
  /** Started at this time or later, instead of `since`. */
  from?: string | undefined;
  /** Started before this time. */
  to?: string | undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const spanMs = { '15m': 15 * minuteMs, '1h': hourMs, '1d': dayMs, '7d': 7 * dayMs } as const;
/** Of the charts: 48 to 60 for each span, except the first. */
const intervalMs = { '15m': 15_000, '1h': minuteMs, '1d': hourMs / 2, '7d': 3 * hourMs } as const;
export const chartSpan = '1h';

const isoOf = (ms: number): string => new Date(ms).toISOString();

interface Bounds {
  start_time?: string;
  end_time?: string;
}

export const boundsOf = ({ since, from, to }: TraceTime, nowMs: number): Bounds => {
  const fromMs = from === undefined ? since && nowMs - spanMs[since] : Date.parse(from);
  return {
    ...(fromMs === undefined ? {} : { start_time: isoOf(fromMs) }),
    ...(to === undefined ? {} : { end_time: lastBefore(Date.parse(to)) }),
  };
};

/** The time of the charts, and the length of their intervals. */
export const chartRange = (time: TraceTime, nowMs: number): Bounds & { interval_seconds?: number } => {
  if (time.from !== undefined || time.to !== undefined) return boundsOf(time, nowMs);
  const span = time.since ?? chartSpan;
  const { fromMs, toMs } = wholeIntervals({ spanMs: spanMs[span], intervalMs: intervalMs[span] }, nowMs);
  return {
    start_time: isoOf(fromMs),
    end_time: lastBefore(toMs),
    interval_seconds: intervalMs[span] / 1_000,
  };
};
