import fc from 'fast-check';
import { it } from 'vitest';
import { acceptsStringified, writesPieces } from './json.ts';

it('the bytes of a text that is written in long pieces are those of the whole text', () => {
  fc.assert(writesPieces(fc.string({ unit: 'binary', maxLength: 50_000, size: 'max' })), { numRuns: 50 });
});

it('strict JSON accepts everything that JSON.stringify can write, like JSON.parse', () => {
  fc.assert(acceptsStringified, { numRuns: 500 });
});
