import fc from 'fast-check';
import { expect, it } from 'vitest';
import { intervalsOf, startTime } from './intervals.ts';

const fields = { to: 'to', seconds: 'interval_seconds' };
const hourMs = 3_600_000;

it.each([
  ['an hour', hourMs, 60],
  ['six hours', 6 * hourMs, 600],
  ['a day', 24 * hourMs, 1_800],
  ['a week', 7 * 24 * hourMs, 10_800],
  ['two minutes', 120_000, 5],
  ['ten years', 3_650 * 24 * hourMs, 61 * 86_400],
])('divides %s into about 60 intervals of a length that people read easily', (_, lengthMs, seconds) => {
  const span = { fromMs: 0, toMs: lengthMs, seconds: undefined };
  const found = intervalsOf(span, { max: 500, fields });
  expect(found.seconds).toBe(seconds);
  expect(found.starts.length).toBeLessThanOrEqual(61);
});

it('covers the time with intervals that begin at multiples of their length', () => {
  const anyTime = fc.integer({ min: -1e12, max: 4e12 });
  fc.assert(
    fc.property(
      anyTime,
      fc.integer({ min: 1, max: 1e9 }),
      fc.integer({ min: 1, max: 700_000 }),
      (fromMs, ms, seconds) => {
        const toMs = fromMs + ms;
        fc.pre(ms / 1_000 / seconds < 400);
        const { starts } = intervalsOf({ fromMs, toMs, seconds }, { max: 500, fields });
        for (const [at, start] of starts.entries()) {
          expect(Math.abs(start % seconds)).toBe(0);
          if (at > 0) expect(start - (starts[at - 1] ?? 0)).toBe(seconds);
        }
        const [first = Number.NaN] = starts;
        expect(first * 1_000).toBeLessThanOrEqual(fromMs);
        expect((first + seconds) * 1_000).toBeGreaterThan(fromMs);
        const last = starts.at(-1) ?? Number.NaN;
        expect(last * 1_000).toBeLessThan(toMs);
        expect((last + seconds) * 1_000).toBeGreaterThanOrEqual(toMs);
      },
    ),
  );
});

it('has an interval for the end only when it is part of the time', () => {
  const span = { fromMs: 0, toMs: 20_000, seconds: 10 };
  expect(intervalsOf(span, { max: 500, fields }).starts).toEqual([0, 10]);
  const including = { max: 500, fields, includesEnd: true };
  expect(intervalsOf(span, including).starts).toEqual([0, 10, 20]);
  expect(intervalsOf({ ...span, toMs: 0 }, including).starts).toEqual([0]);
  expect(() => intervalsOf({ ...span, toMs: -1 }, including)).toThrow('to must not be before the start');
});

it.each([
  ['a time that ends before it begins', { fromMs: 10, toMs: 0, seconds: 1 }, /to must be later/],
  ['a time without length', { fromMs: 10, toMs: 10, seconds: 1 }, /to must be later/],
  ['too many intervals', { fromMs: 0, toMs: hourMs, seconds: 1 }, /3600 intervals of 1 s, and 500/],
])('refuses %s', (_, span, message) => {
  expect(() => intervalsOf(span, { max: 500, fields })).toThrow(message);
});

it('begins the first interval in the year 1 at the earliest', () => {
  const fromMs = Date.parse('0001-01-01T00:00:01Z');
  const { starts } = intervalsOf({ fromMs, toMs: fromMs + hourMs, seconds: 1e9 }, { max: 500, fields });
  expect(starts.map(startTime)).toEqual(['0001-01-01T00:00:00.000Z']);
});
