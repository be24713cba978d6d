import fc from 'fast-check';
import { describe, it } from 'vitest';
import {
  decodesValues,
  expectJsonOrRejection,
  readsStoredAsLive,
  restoresStates,
  restoresValues,
  writesTextOfJson,
} from './codec.ts';
import { scaled } from '../speed.ts';
import { readsTextAsValue, restoresTexts, sharesBlobs } from './text-codec.ts';

describe('a value of any type', () => {
  it('is restored unchanged by decode()', () => {
    fc.assert(decodesValues, { numRuns: 1_500 });
  });

  it('is restored unchanged by join()', () => {
    fc.assert(restoresValues, { numRuns: 1_000 });
  });

  it(
    'is restored in every state of a list that a graph edits and mutates in one session',
    () => {
      fc.assert(restoresStates, { numRuns: 30 });
    },
    scaled(240_000),
  );

  it('is the same for clients from storage and live', () => {
    fc.assert(readsStoredAsLive, { numRuns: 1_000 });
  });

  it('is sent to clients as the text of its JSON value', () => {
    fc.assert(writesTextOfJson, { numRuns: 2_000 });
  });

  it('is sent to clients as JSON, or rejected before it is stored', () => {
    expectJsonOrRejection(2_000);
  });
});

describe('the stored text of a value of any type', () => {
  it('is restored by join()', () => {
    fc.assert(restoresTexts, { numRuns: 1_000 });
  });

  it('has the blobs of its value', () => {
    fc.assert(sharesBlobs, { numRuns: 1_000 });
  });

  it('is the same for clients as its value', () => {
    fc.assert(readsTextAsValue, { numRuns: 1_000 });
  });
});
