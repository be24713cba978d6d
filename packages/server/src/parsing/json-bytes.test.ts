import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textBytes, textOf } from './json-bytes.ts';

describe('the bytes of a text that is written in pieces', () => {
  it('are those of the whole text', () => {
    const piece = fc.string({ unit: 'binary', maxLength: 50_000, size: 'max' });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const bytes = textBytes((add) => {
          for (const text of pieces) add(text);
        });
        const whole = Buffer.from(pieces.join(''));
        expect(Buffer.concat(bytes.blocks).equals(whole)).toBe(true);
        expect(bytes.length).toBe(whole.length);
        expect(textOf(bytes)).toBe(whole.toString());
      }),
      { numRuns: 50 },
    );
  });
});
