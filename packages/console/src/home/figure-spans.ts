// The times that the figures of Home can be of. Each has an interval that gives a plot 48 to 84 points.
import { wholeIntervals } from '../plots/time-span.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const figureSpans = ['1h', '6h', '1d', '7d'] as const;
export type FigureSpan = (typeof figureSpans)[number];

export const spanTitles: Record<FigureSpan, string> = {
  '1h': 'Last hour',
  '6h': 'Last 6 hours',
  '1d': 'Last day',
  '7d': 'Last 7 days',
};

const sizes: Record<FigureSpan, { spanMs: number; intervalMs: number }> = {
  '1h': { spanMs: hourMs, intervalMs: minuteMs },
  '6h': { spanMs: 6 * hourMs, intervalMs: 5 * minuteMs },
  '1d': { spanMs: 24 * hourMs, intervalMs: 30 * minuteMs },
  '7d': { spanMs: 7 * 24 * hourMs, intervalMs: 2 * hourMs },
};

export const rangeOf = (
  span: FigureSpan,
  nowMs: number,
): { from: string; to: string; interval_seconds: number } => {
  const { fromMs, toMs } = wholeIntervals(sizes[span], nowMs);
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    interval_seconds: sizes[span].intervalMs / 1_000,
  };
};
