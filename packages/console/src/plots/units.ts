// Texts of the values of plots, and distances between the ticks of their axes.
import { duration } from '../ui/duration.ts';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

const dollars = { style: 'currency', currency: 'USD' } as const;
const cents = new Intl.NumberFormat('en-US', dollars);
const fractions = new Intl.NumberFormat('en-US', { ...dollars, maximumFractionDigits: 4 });
const small = new Intl.NumberFormat('en-US', {
  ...dollars,
  minimumFractionDigits: 0,
  maximumSignificantDigits: 2,
});

/** `18,204`. */
export const countUnit = (count: number): string => whole.format(count);

/** `950`, `18.2K`. */
export const tokenUnit = (tokens: number): string => compact.format(tokens);

/** `$1.20`, `$0.025`. Below a cent, two digits that are not zero. */
export const dollarUnit = (cost: number): string => {
  if (cost === 0 || cost >= 0.01) return (cost >= 1 ? cents : fractions).format(cost);
  return small.format(cost);
};

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Distances, in milliseconds, that `duration()` writes in few characters. */
export const durationSteps: readonly number[] = [
  { ms: 1, counts: [1, 2, 5, 10, 20, 50, 100, 200, 500] },
  { ms: second, counts: [1, 2, 5, 10, 15, 30] },
  { ms: minute, counts: [1, 2, 5, 10, 15, 30] },
  { ms: hour, counts: [1, 2, 3, 6, 12] },
  { ms: day, counts: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000] },
].flatMap(({ ms, counts }) => counts.map((count) => count * ms));

/** For plots of durations. Values of less than a millisecond would have an axis of which all ticks are `0 ms` or `1 ms`. */
export const durationAxis = { unit: duration, steps: durationSteps, leastMax: 10 } as const;
