import type { RunStatsSeries } from '@svc/sdk';
import { expect, it } from 'vitest';
import { usagePlots, usageRequest } from './usage-plots.tsx';

it('requests the same intervals as the plots of runs, and no interval after their end', () => {
  expect(usageRequest('1h', Date.parse('2026-11-26T14:05:30Z'))).toEqual({
    start_time: '2026-11-26T13:06:00.000Z',
    end_time: '2026-11-26T14:05:59.999999Z',
    interval_seconds: 60,
  });
});

it('reads costs from their decimals', () => {
  const points = [
    { start_time: '1970-01-01T00:00:00Z', prompt_tokens: 7, completion_tokens: 3, total_cost: '0.0250' },
    { start_time: '1970-01-01T01:00:00Z', prompt_tokens: 0, completion_tokens: 0, total_cost: null },
  ];
  const plots = usagePlots({ interval_seconds: 3_600, points } as unknown as RunStatsSeries);
  expect(plots).toMatchObject({ times: [0, 3_600_000], bucketMs: 3_600_000 });
  expect(plots.tokens.map(({ values }) => values)).toEqual([
    [7, 0],
    [3, 0],
  ]);
  expect(plots.cost.map(({ values }) => values)).toEqual([[0.025, 0]]);
});
