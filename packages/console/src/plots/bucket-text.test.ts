import { expect, it } from 'vitest';
import { bucketText, momentText, rangeText } from './bucket-text.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const ms = (at: string): number => Date.parse(`2026-11-26T${at}Z`);

it('writes a bucket with its day and both of its ends, on a clock of 24 hours', () => {
  expect(bucketText(minuteMs, 'UTC').bucket(ms('14:05:00'))).toBe('26 Nov, 14:05–14:06');
  expect(bucketText(10_000, 'UTC').bucket(ms('14:05:50'))).toBe('26 Nov, 14:05:50–14:06:00');
  expect(bucketText(hourMs, 'UTC').bucket(ms('00:00:00'))).toBe('26 Nov, 00:00–01:00');
});

it('writes times in the time zone of the reader', () => {
  expect(bucketText(minuteMs, 'America/New_York').bucket(ms('03:00:00'))).toBe('25 Nov, 22:00–22:01');
});

it('names the day of the end where that is another one', () => {
  expect(bucketText(hourMs, 'UTC').bucket(ms('23:00:00'))).toBe('26 Nov, 23:00–00:00');
  expect(bucketText(3 * hourMs, 'UTC').bucket(ms('22:00:00'))).toBe('26 Nov, 22:00–27 Nov, 01:00');
});

it('writes a moment with its day', () => {
  expect(momentText(ms('14:05:59'), 'UTC')).toBe('26 Nov, 14:05');
});

it('writes a bucket of a day, or of several, without a clock', () => {
  expect(bucketText(dayMs, 'UTC').bucket(ms('00:00:00'))).toBe('26 Nov');
  expect(bucketText(7 * dayMs, 'UTC').bucket(ms('00:00:00'))).toBe('26 Nov – 2 Dec');
});

it('marks midnight on an axis with the day, and other ticks with the clock', () => {
  const { tick } = bucketText(minuteMs, 'UTC');
  expect(tick(ms('00:00:00'), hourMs)).toBe('26 Nov');
  expect(tick(ms('13:00:00'), hourMs)).toBe('13:00');
  expect(tick(ms('13:00:15'), 15_000)).toBe('13:00:15');
  expect(tick(ms('00:00:00'), dayMs)).toBe('26 Nov');
});

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
