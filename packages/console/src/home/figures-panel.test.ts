import type { RunFigures } from '@svc/sdk';
import { expect, it } from 'vitest';
import { runPlots } from './figures-panel.tsx';

const none = {
  created: 0,
  success: 0,
  error: 0,
  timeout: 0,
  interrupted: 0,
  wait_ms: null,
  execution_ms: null,
};

const figures = (...points: object[]): RunFigures =>
  ({
    interval_seconds: 60,
    points: points.map((point, minute) => ({
      ...none,
      at: new Date(minute * 60_000).toISOString(),
      ...point,
    })),
  }) as unknown as RunFigures;

it('has a series for each status, and gaps where nothing was measured', () => {
  const plots = runPlots(figures({ success: 2, error: 1, wait_ms: { p50: 5, p95: 9 } }, { interrupted: 3 }));
  expect(plots).toMatchObject({ times: [0, 60_000], bucketMs: 60_000, isEmpty: false });
  expect(plots.ended.map(({ label, values }) => [label, ...values])).toEqual([
    ['success', 2, 0],
    ['cancelled', 0, 3],
    ['timeout', 0, 0],
    ['error', 1, 0],
  ]);
  expect(plots.wait.map(({ values }) => values)).toEqual([
    [5, null],
    [9, null],
  ]);
  expect(plots.execution.map(({ values }) => values)).toEqual([
    [null, null],
    [null, null],
  ]);
});

it('is empty when no run was created or ended', () => {
  expect(runPlots(figures({}, {})).isEmpty).toBe(true);
  expect(runPlots(figures({}, { created: 1 })).isEmpty).toBe(false);
});
