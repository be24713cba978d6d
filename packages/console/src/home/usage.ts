// The series of the plots of tokens and costs, from the traces of a workspace.
import type { RunStatsSeries } from '@svc/sdk';
import { lastBefore } from '../plots/last-before.ts';
import type { Buckets, PlotSeries } from '../plots/plot-series.ts';
import { rangeOf, type FigureSpan } from './figure-spans.ts';

export interface UsagePlots extends Buckets {
  tokens: PlotSeries[];
  cost: PlotSeries[];
}

/** The intervals of the plots of runs. The series of traces includes its end: with the end itself it had one interval more. */
export const usageRequest = (
  span: FigureSpan,
  nowMs: number,
): { start_time: string; end_time: string; interval_seconds: number } => {
  const { from, to, ...interval } = rangeOf(span, nowMs);
  return { start_time: from, end_time: lastBefore(Date.parse(to)), ...interval };
};

/** Costs are decimals of any length. */
const dollarsOf = (cost: string | null): number => Number(cost ?? 0);

export const usagePlots = ({ points, interval_seconds: seconds }: RunStatsSeries): UsagePlots => ({
  times: points.map(({ start_time: at }) => Date.parse(at)),
  bucketMs: seconds * 1_000,
  tokens: [
    { label: 'prompt', tone: 'blue', values: points.map(({ prompt_tokens: tokens }) => tokens) },
    { label: 'completion', tone: 'amber', values: points.map(({ completion_tokens: tokens }) => tokens) },
  ],
  cost: [{ label: 'cost', tone: 'accent', values: points.map(({ total_cost: cost }) => dollarsOf(cost)) }],
});
