import { expect, it } from 'vitest';
import { boundsOf, chartRange } from './trace-time.ts';

const nowMs = Date.parse('2026-11-26T14:05:20Z');

it('of a span begins that long ago, and has no end', () => {
  expect(boundsOf({ since: '15m' }, nowMs)).toEqual({ start_time: '2026-11-26T13:50:20.000Z' });
  expect(boundsOf({}, nowMs)).toEqual({});
});

it('of a range ends at the last microsecond before its end', () => {
  const range = { from: '2026-11-26T14:00:00.000Z', to: '2026-11-26T14:01:00.000Z' };
  const bounds = { start_time: range.from, end_time: '2026-11-26T14:00:59.999999Z' };
  expect(boundsOf({ since: '1h', ...range }, nowMs)).toEqual(bounds);
  expect(chartRange(range, nowMs)).toEqual(bounds);
});

it('of charts is made of whole intervals, the last of which is not over', () => {
  expect(chartRange({}, nowMs)).toEqual({
    start_time: '2026-11-26T13:06:00.000Z',
    end_time: '2026-11-26T14:05:59.999999Z',
    interval_seconds: 60,
  });
  expect(chartRange({ since: '7d' }, nowMs)).toMatchObject({
    start_time: '2026-11-19T15:00:00.000Z',
    interval_seconds: 10_800,
  });
});
