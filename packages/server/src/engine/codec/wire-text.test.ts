import fc from 'fast-check';
import { test } from 'vitest';
import { writesTextOfJson } from '../../../test/properties/codec.ts';

test('the text of a stored value is that of its JSON value', () => {
  fc.assert(writesTextOfJson, { numRuns: 200 });
});
