// The series of the plots of tokens and costs, from the traces of a workspace.
import type { RunStatsSeries } from '@svc/sdk';
import type { Buckets, PlotSeries } from '../plots/plot-series.ts';

export interface UsagePlots extends Buckets {
  tokens: PlotSeries[];
  cost: PlotSeries[];
}

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
