import { expect, it } from 'vitest';
import type { RunStatsPoint, RunStatsSeries } from '@svc/sdk';
import { traceCharts } from './chart-series.ts';

const seriesOf = (...points: Partial<RunStatsPoint>[]): RunStatsSeries => ({
  start_time: '2026-11-26T14:00:00Z',
  end_time: '2026-11-26T14:01:59Z',
  interval_seconds: 60,
  points: points.map((point, minute) => ({
    start_time: `2026-11-26T14:0${minute}:00.000Z`,
    run_count: 0,
    error_count: 0,
    latency_p50: null,
    latency_p99: null,
    first_token_p50: null,
    first_token_p99: null,
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    prompt_cost: null,
    completion_cost: null,
    total_cost: null,
    ...point,
  })),
});

it('times and counts traces, and has the tokens and costs of all their trace runs', () => {
  const counted = seriesOf({ run_count: 3, error_count: 1, latency_p50: 1.5, latency_p99: 2 }, {});
  const whole = seriesOf(
    { run_count: 9, first_token_p50: 0.2, prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    { run_count: 1, prompt_cost: '0.1', completion_cost: '0.2', total_cost: '0.3' },
  );
  const charts = traceCharts({ counted, whole });
  expect(charts.times.map((time) => new Date(time).getUTCMinutes())).toEqual([0, 1]);
  expect(charts).toMatchObject({
    bucketMs: 60_000,
    isEmpty: false,
    counts: [{ values: [2, 0] }, { values: [1, 0] }],
    latency: [{ values: [1_500, null] }, { values: [2_000, null] }],
    firstToken: [{ values: [200, null] }, { values: [null, null] }],
    tokens: [{ values: [7, 0] }, { values: [3, 0] }],
    cost: [{ values: [0, 0.1] }, { values: [0, 0.2] }],
  });
  expect([charts.tokens.length, charts.cost.length]).toEqual([2, 2]);
});

it('stacks the part of a total that is neither prompt nor completion', () => {
  const series = seriesOf({ run_count: 1, total_tokens: 12, prompt_tokens: 2, total_cost: '0.5' });
  const { tokens, cost } = traceCharts({ counted: series, whole: series });
  expect(tokens[2]).toMatchObject({ label: 'other', values: [10] });
  expect(cost[2]).toMatchObject({ label: 'other', values: [0.5] });
});

it('is empty when no trace run started in any interval', () => {
  const none = seriesOf({}, {});
  expect(traceCharts({ counted: none, whole: none }).isEmpty).toBe(true);
});
