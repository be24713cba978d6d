import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts';

describe('sizes', () => {
  it.each([
    ['512b', 512],
    ['64kb', 65_536],
    ['20mb', 20_971_520],
    ['20MB', 20_971_520],
    ['1.5gb', 1_610_612_736],
  ])('%j is %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', '20', 'mb', '-1mb', '20 mb', '20mib', '999999999999999gb'])('%j is not a size', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });

  it('are formatted to text that parses to the same number', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 40 }), (bytes) => {
        expect(parseSize(formatSize(bytes))).toBe(bytes);
      }),
    );
  });
});

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['2m', 120_000],
    ['4h', 14_400_000],
    ['1d', 86_400_000],
    ['1.5h', 5_400_000],
    ['0s', 0],
    [' 10s ', 10_000],
  ])('%j is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '30', 's', '-1s', '1 s', '1e3s', '30S', '1h30m', '٣s', 'Infinitys', '999999999999999d'])(
    '%j is not a duration',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it('are formatted to text that parses to the same number', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e12 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });

  it('are whole milliseconds or undefined for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{0,20}(ms|s|m|h|d)$/)), (text) => {
        const ms = parseDuration(text);
        expect(ms === undefined || (Number.isSafeInteger(ms) && ms >= 0)).toBe(true);
      }),
    );
  });
});
