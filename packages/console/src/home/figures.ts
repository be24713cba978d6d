// The series of the plots of runs, from what the server counts.
import type { RunFigures } from '@svc/sdk';
import { runStatusNames } from '../api/statuses.ts';
import type { Buckets, PlotSeries } from '../plots/plot-series.ts';

export interface RunPlots extends Buckets {
  ended: PlotSeries[];
  wait: PlotSeries[];
  execution: PlotSeries[];
  /** No run was created or ended. */
  isEmpty: boolean;
}

type Measured = 'wait_ms' | 'execution_ms';

export const runPlots = ({ points, interval_seconds: seconds }: RunFigures): RunPlots => {
  const percentiles = (measured: Measured): PlotSeries[] => [
    { label: 'p50', tone: 'blue', values: points.map(({ [measured]: found }) => found?.p50 ?? null) },
    {
      label: 'p95',
      tone: 'amber',
      isDashed: true,
      values: points.map(({ [measured]: found }) => found?.p95 ?? null),
    },
  ];
  return {
    times: points.map(({ at }) => Date.parse(at)),
    bucketMs: seconds * 1_000,
    ended: [
      { label: 'success', tone: 'green', values: points.map(({ success }) => success) },
      {
        label: runStatusNames.interrupted,
        tone: 'muted',
        values: points.map(({ interrupted }) => interrupted),
      },
      { label: 'timeout', tone: 'amber', values: points.map(({ timeout }) => timeout) },
      { label: 'error', tone: 'red', values: points.map(({ error }) => error) },
    ],
    wait: percentiles('wait_ms'),
    execution: percentiles('execution_ms'),
    isEmpty: points.every(
      ({ created, success, interrupted, timeout, error }) =>
        created + success + interrupted + timeout + error === 0,
    ),
  };
};
