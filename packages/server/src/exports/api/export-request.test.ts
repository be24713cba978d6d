import fc from 'fast-check';
import { expect, it } from 'vitest';
import { microsOf, timeOfMicros } from '../../api/time.ts';
import { countPartitions, partitionsOf } from './export-request.ts';

const dayMicros = 86_400_000_000n;
const micros = fc.bigInt({
  min: microsOf('1900-01-01T00:00:00.000000Z'),
  max: microsOf('2100-01-01T00:00:00.000000Z'),
});
const spans = fc.oneof(
  fc.bigInt({ min: 1n, max: 60n * dayMicros }),
  fc.integer({ min: 1, max: 60 }).map((days) => BigInt(days) * dayMicros),
);
const starts = fc.oneof(
  micros,
  micros.map((at) => (at / dayMicros) * dayMicros),
);

it('any window is cut at midnight UTC, without gaps and overlaps', () => {
  fc.assert(
    fc.property(starts, spans, (from, span) => {
      const window = { start: timeOfMicros(from), end: timeOfMicros(from + span) };
      const partitions = partitionsOf(window);
      expect(partitions.length).toBe(countPartitions(window));
      expect(partitions[0]?.start).toBe(window.start);
      expect(partitions.at(-1)?.end).toBe(window.end);
      for (const [index, { start, end }] of partitions.entries()) {
        expect(microsOf(start)).toBeLessThan(microsOf(end));
        // The last microsecond is on the same day as the first.
        expect(timeOfMicros(microsOf(end) - 1n).slice(0, 10)).toBe(start.slice(0, 10));
        if (index > 0) expect(start).toBe(partitions[index - 1]?.end);
      }
    }),
  );
});

it('a day is not cut', () => {
  expect(partitionsOf({ start: '2026-03-01T06:00:00.000000Z', end: '2026-03-03T02:00:00.000000Z' })).toEqual([
    { start: '2026-03-01T06:00:00.000000Z', end: '2026-03-02T00:00:00.000000Z' },
    { start: '2026-03-02T00:00:00.000000Z', end: '2026-03-03T00:00:00.000000Z' },
    { start: '2026-03-03T00:00:00.000000Z', end: '2026-03-03T02:00:00.000000Z' },
  ]);
});
