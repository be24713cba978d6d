import { expect, it } from 'vitest';
import { figureSpans, rangeOf } from './figure-spans.ts';

const nowMs = Date.parse('2026-11-26T14:05:30Z');

it('ends each span with the interval that is not over', () => {
  const ranges = figureSpans.map((span) => rangeOf(span, nowMs));
  expect(ranges.map(({ from, to }) => [from, to])).toEqual([
    ['2026-11-26T13:06:00.000Z', '2026-11-26T14:06:00.000Z'],
    ['2026-11-26T08:10:00.000Z', '2026-11-26T14:10:00.000Z'],
    ['2026-11-25T14:30:00.000Z', '2026-11-26T14:30:00.000Z'],
    ['2026-11-19T16:00:00.000Z', '2026-11-26T16:00:00.000Z'],
  ]);
});

it('has 48 to 84 points in each span', () => {
  const counts = figureSpans.map((span) => {
    const { from, to, interval_seconds: seconds } = rangeOf(span, nowMs);
    return (Date.parse(to) - Date.parse(from)) / 1_000 / seconds;
  });
  expect(counts).toEqual([60, 72, 48, 84]);
});
