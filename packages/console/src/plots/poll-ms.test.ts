import { ApiError } from '@svc/sdk';
import { expect, it } from 'vitest';
import { plotPollMs } from './poll-ms.ts';

it('reads plots with longer intervals less often, those of a week every five minutes', () => {
  const seconds = [undefined, 15, 60, 300, 1_800, 7_200];
  expect(seconds.map((interval) => plotPollMs(interval, null))).toEqual([
    15_000, 15_000, 15_000, 75_000, 300_000, 300_000,
  ]);
});

it('does not read them again after the server has answered with an error', () => {
  const errors = [403, 503].map((status) => new ApiError(status, { detail: 'no' }, 'id'));
  expect(errors.map((error) => plotPollMs(60, error))).toEqual([false, false]);
  expect(plotPollMs(60, new TypeError('fetch failed'))).toBe(15_000);
});
