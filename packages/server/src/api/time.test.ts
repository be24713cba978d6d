import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDottedOrder, segmentOf } from '../tracing/ingest/dotted-order.ts';
import { microsOf, timeMs, timeOfMicros, toTime } from './time.ts';

describe('a time', () => {
  it.each([
    ['2026-11-20T20:04:58.562001Z', '2026-11-20T20:04:58.562001Z'],
    ['2026-11-20T20:04:58.562', '2026-11-20T20:04:58.562000Z'],
    ['2026-11-20 20:04:58+02:00', '2026-11-20T20:04:58.000000+02:00'],
    ['2026-11-20T20:04:58.123456789Z', '2026-11-20T20:04:58.123456Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    [1_795_205_100_120, '2026-11-20T20:05:00.120000Z'],
    [1_795_205_100_120.25, '2026-11-20T20:05:00.120250Z'],
    [0, '1970-01-01T00:00:00.000000Z'],
    [-1, '1969-12-31T23:59:59.999000Z'],
  ])('is parsed from %s', (written, time) => {
    expect(toTime(written)).toBe(time);
  });

  it.each([
    '',
    'yesterday',
    '2026-02-30T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T20:04:60Z',
    '2026-11-20T20:04:58+99:00',
    '0000-12-31T23:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2026-11-20',
    '12026-11-20T20:04:58Z',
    Number.NaN,
    Infinity,
    1e300,
    null,
    {},
  ])('is not parsed from %s', (written) => {
    expect(toTime(written)).toBeUndefined();
  });

  it('is restored from its microseconds', () => {
    const micros = fc.bigInt({ min: -62_000_000_000_000_000n, max: 253_000_000_000_000_000n });
    fc.assert(
      fc.property(micros, (at) => {
        expect(microsOf(timeOfMicros(at))).toBe(at);
      }),
    );
  });

  it('keeps its milliseconds', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-01-01'), noInvalidDate: true }),
        (date) => {
          expect(timeMs(toTime(date.toISOString()) ?? '')).toBe(date.getTime());
          expect(timeMs(toTime(date.getTime()) ?? '')).toBe(date.getTime());
        },
      ),
    );
  });
});

describe('a dotted order', () => {
  it('contains a path of ids and the time of the last', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.uuid(),
            fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
          ),
          {
            minLength: 1,
            maxLength: 6,
          },
        ),
        (path) => {
          const segments = path.map(([id, date]) => segmentOf(toTime(date.toISOString()) ?? '', id));
          expect(parseDottedOrder(segments.join('.'))).toEqual({
            ids: path.map(([id]) => id),
            start_time: toTime(path.at(-1)?.[1].toISOString()),
          });
        },
      ),
    );
  });

  it.each(['', '.', 'x', `20261301T000000000000Z${'0'.repeat(36)}`, '20261121T080000123456Z'])(
    'is not parsed from %j',
    (text) => {
      expect(parseDottedOrder(text)).toBeUndefined();
    },
  );
});
