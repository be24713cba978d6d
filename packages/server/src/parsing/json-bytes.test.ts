import fc from 'fast-check';
import { describe, it } from 'vitest';
import { writesPieces } from '../../test/properties/json.ts';

describe('the bytes of a text that is written in pieces', () => {
  it('are those of the whole text', () => {
    // As long as the pieces of the slow test, and cheap to generate.
    const piece = fc
      .tuple(fc.string({ unit: 'binary', maxLength: 100 }), fc.nat(50_000))
      .map(([text, length]) => text.repeat(Math.ceil(length / (text.length || 1))).slice(0, length));
    fc.assert(writesPieces(piece), { numRuns: 50 });
  });
});
