import { expect, it } from 'vitest';
import { fieldTime, timeOfField, timeText, timeTitle } from './time-text.ts';

it('a time is written in its time zone, and its title has UTC too', () => {
  const at = '2026-11-26T23:05:59.123456Z';
  expect(timeText(at, 'Asia/Tokyo')).toBe('27 Nov 2026, 08:05:59 GMT+9');
  expect(timeText(at, 'UTC')).toBe('26 Nov 2026, 23:05:59 UTC');
  expect(timeTitle(at, 'Asia/Tokyo')).toBe('27 Nov 2026, 08:05:59 GMT+9\nUTC: 2026-11-26T23:05:59.123456Z');
});

it.each(['2026-11-26T23:05:00Z', '2026-11-26T23:05:59Z', '2026-11-26T00:00:00.250Z'])(
  'a field has the same time as %s',
  (at) => {
    expect(timeOfField(fieldTime(at))).toBe(at);
    expect(Date.parse(fieldTime(at))).toBe(Date.parse(at));
  },
);

it('a field that has no time keeps its text', () => {
  expect(timeOfField('')).toBe('');
});
