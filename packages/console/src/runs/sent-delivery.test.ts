import { expect, it } from 'vitest';
import { sentText } from './sent-delivery.ts';

const failed = { at: '2026-01-01T00:00:00Z', status: 503, error: 'The answer was 503', ms: 3 };
const second = { at: '2026-01-01T00:00:09Z', ms: 3 };

it('is queued until an attempt has an outcome', () => {
  expect(sentText([], undefined)).toBe('Queued: it is sent at once.');
  expect(sentText([failed], undefined)).toBe('Queued: it is sent at once.');
});

it('says what the receiver has answered, and whether another attempt follows', () => {
  expect(sentText([], { status: 'delivered', attempts: [{ ...second, status: 204 }] })).toBe(
    'Sent: the receiver answered 204.',
  );
  const again = { ...second, status: 500, error: 'The answer was 500' };
  expect(sentText([failed], { status: 'pending', attempts: [failed, again] })).toBe(
    'Sent again: the receiver answered 500. Another attempt follows.',
  );
  expect(sentText([failed], { status: 'failed', attempts: [failed, again] })).toBe(
    'Sent again: the receiver answered 500. No other attempt follows.',
  );
});

it('says why there was no response', () => {
  const refused = { ...second, error: 'The request failed: ECONNREFUSED' };
  expect(sentText([failed], { status: 'pending', attempts: [failed, refused] })).toBe(
    'Sent again, without a response: The request failed: ECONNREFUSED. Another attempt follows.',
  );
});
