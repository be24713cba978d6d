import { expect, it } from 'vitest';
import { sentencesOf } from './error-sentences.ts';

it('a request without a response is a sentence about the server, in every browser', () => {
  for (const message of ['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])
    expect(sentencesOf(new TypeError(message))).toEqual([
      'No response: check that the server runs and that this machine reaches it.',
    ]);
});

it('another error keeps its message', () => {
  expect(sentencesOf(new TypeError('x is not a function'))).toEqual(['x is not a function']);
});
