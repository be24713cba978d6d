import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textOf, toJsonBytes } from './json-bytes.ts';

describe('JSON bytes', () => {
  it('equal the text of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const bytes = toJsonBytes(value);
        expect(textOf(bytes)).toBe(JSON.stringify(value));
        expect(bytes.length).toBe(Buffer.byteLength(JSON.stringify(value)));
      }),
    );
  });

  it('omit undefined members of objects, and have null for undefined items of lists', () => {
    const value = { a: undefined, b: [undefined, 1], c: 'é' };
    expect(textOf(toJsonBytes(value))).toBe(JSON.stringify(value));
  });
});
