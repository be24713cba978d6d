import { expect, it } from 'vitest';
import { rangeText } from './range-text.ts';

const from = '2026-11-26T14:05:00.000Z';
const to = '2026-11-26T14:06:00.000Z';

it('names both ends of a range, or its only end', () => {
  expect(rangeText(from, to, 'UTC')).toBe('26 Nov, 14:05–14:06');
  expect(rangeText(from, '2026-11-28T00:00:00Z', 'UTC')).toBe('from 26 Nov, 14:05, before 28 Nov, 00:00');
  expect(rangeText(from, undefined, 'UTC')).toBe('from 26 Nov, 14:05');
  expect(rangeText(undefined, to, 'UTC')).toBe('before 26 Nov, 14:06');
  expect(rangeText(to, from, 'UTC')).toBe('from 26 Nov, 14:06, before 26 Nov, 14:05');
  expect(rangeText(undefined, undefined)).toBeUndefined();
});
