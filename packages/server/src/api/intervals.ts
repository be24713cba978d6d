// Divides a time into intervals of one length, which begin at multiples of it since 1970.
import { invalid } from '@svc/contract/problem';

const secondsOf = { minute: 60, hour: 3_600, day: 86_400 } as const;
/** Lengths that people read easily, in seconds. */
const usual = [
  1,
  5,
  10,
  15,
  30,
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * secondsOf.minute),
  ...[1, 3, 6, 12].map((hours) => hours * secondsOf.hour),
  ...[1, 7].map((days) => days * secondsOf.day),
];
const wanted = 60;

export interface Intervals {
  seconds: number;
  /** Starts of the intervals, in seconds since 1970. The first one may begin before the time. */
  starts: number[];
}

interface Limits {
  max: number;
  fields: { to: string; seconds: string };
  /** Whether the end is part of the time. */
  includesEnd?: boolean;
}

/**
 * The intervals of the time from `fromMs` to `toMs`, which is not part of it by default. Without `seconds`, about 60 of them, if `max` allows
 * it. Throws invalid when the time has no length, or more than `max` intervals.
 */
export const intervalsOf = (
  { fromMs, toMs, seconds }: { fromMs: number; toMs: number; seconds: number | undefined },
  { max, fields, includesEnd = false }: Limits,
): Intervals => {
  if (includesEnd && !(fromMs <= toMs))
    throw invalid(['body', fields.to], `${fields.to} must not be before the start`);
  if (!includesEnd && !(fromMs < toMs))
    throw invalid(['body', fields.to], `${fields.to} must be later than the start`);
  const length = (toMs - fromMs) / 1_000;
  const chosen =
    seconds ??
    usual.find((each) => each * wanted >= length) ??
    Math.ceil(length / wanted / secondsOf.day) * secondsOf.day;
  const first = Math.floor(fromMs / 1_000 / chosen) * chosen;
  const whole = (toMs / 1_000 - first) / chosen;
  const count = includesEnd ? Math.floor(whole) + 1 : Math.ceil(whole);
  if (count > max)
    throw invalid(
      ['body', fields.seconds],
      `The time has ${count} intervals of ${chosen} s, and ${max} are possible. Choose longer ones, or less time`,
    );
  return { seconds: chosen, starts: Array.from({ length: count }, (_, at) => first + at * chosen) };
};

const yearOne = Date.parse('0001-01-01T00:00:00Z');

/** The start of an interval as a time. The first interval may begin before the year 1, which clients cannot read. */
export const startTime = (start: number): string => new Date(Math.max(start * 1_000, yearOne)).toISOString();
