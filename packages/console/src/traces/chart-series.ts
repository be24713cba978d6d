// The rows of the charts of traces.
import type { RunStatsPoint, RunStatsSeries } from '@svc/sdk';
import type { Buckets, PlotSeries } from '../plots/plot-series.ts';

export interface TraceSeries {
  /** Counted and timed: the traces, or all trace runs. */
  counted: RunStatsSeries;
  /** All trace runs of these traces: models have the tokens, costs and first tokens. */
  whole: RunStatsSeries;
}

export interface TraceCharts extends Buckets {
  isEmpty: boolean;
  counts: PlotSeries[];
  latency: PlotSeries[];
  firstToken: PlotSeries[];
  tokens: PlotSeries[];
  cost: PlotSeries[];
}

type Point = RunStatsPoint;

const ms = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1_000);

const percentiles = (points: readonly Point[], name: 'latency' | 'first_token'): PlotSeries[] => [
  { label: 'p50', tone: 'blue', values: points.map((point) => ms(point[`${name}_p50`])) },
  { label: 'p99', tone: 'amber', isDashed: true, values: points.map((point) => ms(point[`${name}_p99`])) },
];

/** What is stacked: prompts and completions, and the part of the total that is neither, where there is one. */
const parts = (
  points: readonly Point[],
  valueOf: (point: Point, part: 'prompt' | 'completion' | 'total') => number,
  isPart: (rest: number) => boolean,
): PlotSeries[] => {
  const of = (part: 'prompt' | 'completion') => points.map((point) => valueOf(point, part));
  const rest = points.map((point) => {
    const value = valueOf(point, 'total') - valueOf(point, 'prompt') - valueOf(point, 'completion');
    return isPart(value) ? value : 0;
  });
  return [
    { label: 'prompt', tone: 'blue', values: of('prompt') },
    { label: 'completion', tone: 'accent', values: of('completion') },
    ...(rest.some((value) => value > 0) ? [{ label: 'other', tone: 'muted' as const, values: rest }] : []),
  ];
};

/** Less is the error of numbers with a binary fraction: costs of the server are decimals. */
const smallestCost = 1e-9;

export const traceCharts = ({ counted, whole }: TraceSeries): TraceCharts => {
  const { points } = counted;
  return {
    times: points.map((point) => Date.parse(point.start_time)),
    bucketMs: counted.interval_seconds * 1_000,
    isEmpty: [...points, ...whole.points].every(({ run_count }) => run_count === 0),
    counts: [
      { label: 'without error', tone: 'green', values: points.map((one) => one.run_count - one.error_count) },
      { label: 'with error', tone: 'red', values: points.map((one) => one.error_count) },
    ],
    latency: percentiles(points, 'latency'),
    firstToken: percentiles(whole.points, 'first_token'),
    tokens: parts(
      whole.points,
      (point, part) => point[`${part}_tokens`],
      (rest) => rest > 0,
    ),
    cost: parts(
      whole.points,
      (point, part) => Number(point[`${part}_cost`] ?? 0),
      (rest) => rest > smallestCost,
    ),
  };
};
