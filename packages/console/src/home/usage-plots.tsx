import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PlatformClient, RunStatsSeries } from '@svc/sdk';
import { useMemo, type ReactNode } from 'react';
import { Plot } from '../plots/plot.tsx';
import { plotPollMs } from '../plots/poll-ms.ts';
import { dollarUnit, tokenUnit } from '../plots/units.ts';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import type { FigureSpan } from './figure-spans.ts';
import { usagePlots, usageRequest } from './usage.ts';

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
  const bars = { ...buckets, kind: 'stacked', syncKey } as const;
  return (
    <>
      <Plot {...bars} title="Tokens of the workspace" unit={tokenUnit} series={tokens} />
      <Plot {...bars} title="Cost of the workspace" unit={dollarUnit} series={cost} />
    </>
  );
};
