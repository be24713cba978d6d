// The time filter of lists and plots: a span until now, or a range.
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const timeSpans = { '15m': 15 * minuteMs, '1h': hourMs, '1d': dayMs, '7d': 7 * dayMs } as const;

export interface TimeSpan {
  since?: keyof typeof timeSpans | undefined;
  /** At this time or later, instead of `since`. */
  from?: string | undefined;
  /** Before this time. */
  to?: string | undefined;
}

/** From the first time on, and before the second one. */
export const withinSpan = (
  { since, from, to }: TimeSpan,
  nowMs: number,
): { fromMs: number | undefined; toMs: number | undefined } => ({
  fromMs: from === undefined ? since && nowMs - timeSpans[since] : Date.parse(from),
  toMs: to === undefined ? undefined : Date.parse(to),
});

/** The last microsecond before a time: the server includes the end of a range of start times. */
export const lastBefore = (ms: number): string => new Date(ms - 1).toISOString().replace('Z', '999Z');

/**
 * A range of whole intervals, as the server divides time. It ends with the current interval, so its newest point is not complete. All plots of
 * a page have the same points, and a wrong clock of the browser shows another range instead of an error.
 */
export const wholeIntervals = (
  { spanMs, intervalMs }: { spanMs: number; intervalMs: number },
  nowMs: number,
): { fromMs: number; toMs: number } => {
  const toMs = (Math.floor(nowMs / intervalMs) + 1) * intervalMs;
  return { fromMs: toMs - spanMs, toMs };
};
