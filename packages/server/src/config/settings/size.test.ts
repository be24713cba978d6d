import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSize, parseSize } from './size.ts';

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
