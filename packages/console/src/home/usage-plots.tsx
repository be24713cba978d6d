import type { PlatformClient, RunStatsSeries } from '@svc/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback, useMemo } from 'react';
import type { Buckets, PlotSeries } from '../plots/plot-series.ts';
import { Plot } from '../plots/plot.tsx';
import { plotPollMs } from '../plots/poll-ms.ts';
import { lastBefore } from '../plots/time-span.ts';
import { dollarUnit, tokenUnit } from '../plots/units.ts';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { type FigureSpan, rangeOf } from './figure-spans.ts';

export const UsagePlots = ({
  client,
  span,
  syncKey,
}: {
  client: PlatformClient;
  span: FigureSpan;
  syncKey: string;
}): ReactNode => {
  const query = useQuery({
    queryKey: ['traces', 'usage', span],
    queryFn: ({ signal }) => client.traces.statsSeries(usageRequest(span, Date.now()), { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => plotPollMs(state.data?.interval_seconds, state.error),
  });
  return (
    <>
      <ErrorNotice error={query.data && query.error} />
      <Loaded query={query}>{(series) => <Plots series={series} syncKey={syncKey} />}</Loaded>
    </>
  );
};

const Plots = ({ series, syncKey }: { series: RunStatsSeries; syncKey: string }): ReactNode => {
  const { tokens, cost, ...buckets } = useMemo(() => usagePlots(series), [series]);
  const navigate = useNavigate();
  const openTraces = useCallback(
    (fromMs: number, toMs: number) =>
      void navigate({
        to: '/traces',
        search: { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
      }),
    [navigate],
  );
  const bars = { ...buckets, kind: 'stacked', syncKey, onPick: openTraces } as const;
  return (
    <>
      <Plot {...bars} title="Tokens of the workspace" unit={tokenUnit} series={tokens} />
      <Plot {...bars} title="Cost of the workspace" unit={dollarUnit} series={cost} />
    </>
  );
};

/** The series of the plots of tokens and costs, from the traces of a workspace. */
interface UsageSeries extends Buckets {
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

export const usagePlots = ({ points, interval_seconds: seconds }: RunStatsSeries): UsageSeries => ({
  times: points.map(({ start_time: at }) => Date.parse(at)),
  bucketMs: seconds * 1_000,
  tokens: [
    { label: 'prompt', tone: 'blue', values: points.map(({ prompt_tokens: tokens }) => tokens) },
    { label: 'completion', tone: 'amber', values: points.map(({ completion_tokens: tokens }) => tokens) },
  ],
  cost: [{ label: 'cost', tone: 'accent', values: points.map(({ total_cost: cost }) => dollarsOf(cost)) }],
});
