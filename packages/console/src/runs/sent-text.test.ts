import { expect, it } from 'vitest';
import { sentText } from './sent-text.ts';

const failed = { at: '2026-01-01T00:00:00Z', status: 503, error: 'The answer was 503', ms: 3 };
const second = { at: '2026-01-01T00:00:09Z', ms: 3 };

it('is queued until an attempt has an outcome', () => {
  expect(sentText([], [])).toBe('Queued: it is sent at once.');
  expect(sentText([failed], [failed])).toBe('Queued: it is sent at once.');
});

it('says what the receiver has answered', () => {
  expect(sentText([], [{ ...second, status: 204 }])).toBe('Sent: the receiver answered 204.');
  expect(sentText([failed], [failed, { ...second, status: 500, error: 'The answer was 500' }])).toBe(
    'Sent again: the receiver answered 500.',
  );
});

it('says why there was no response', () => {
  expect(sentText([failed], [failed, { ...second, error: 'connect ECONNREFUSED' }])).toBe(
    'Sent again, without a response: connect ECONNREFUSED',
  );
});
