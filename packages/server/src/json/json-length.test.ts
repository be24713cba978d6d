import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonLength } from './json-length.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0000', '\u2028', '😀', '\ud83d', '\ude00') }),
);

it('is the number of characters that JSON.stringify() writes', () => {
  const leaf = fc.oneof(text, fc.integer(), fc.double(), fc.boolean(), fc.constantFrom(null, undefined));
  fc.assert(
    fc.property(fc.anything({ values: [leaf], key: text, maxDepth: 4 }), (value) => {
      expect(jsonLength(value)).toBe((JSON.stringify(value) ?? 'null').length);
    }),
  );
});
