/**
 * A time of whole intervals, as the server divides it. It ends with the current interval, so its newest point is not complete. All plots of a
 * page have the same points, and a wrong clock shows another time instead of an error.
 */
export const wholeIntervals = (
  { spanMs, intervalMs }: { spanMs: number; intervalMs: number },
  nowMs: number,
): { fromMs: number; toMs: number } => {
  const toMs = (Math.floor(nowMs / intervalMs) + 1) * intervalMs;
  return { fromMs: toMs - spanMs, toMs };
};
