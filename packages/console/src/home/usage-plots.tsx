import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PlatformClient } from '@svc/sdk';
import { useMemo, type ReactNode } from 'react';
import { Plot } from '../plots/plot.tsx';
import { dollarUnit, tokenUnit } from '../plots/units.ts';
import { pollMsOf, type FigureSpan } from './figure-spans.ts';
import { usagePlots, usageRequest } from './usage.ts';

/** Nothing is said about tokens where the key may not read them, or the server stores no traces. */
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
    refetchInterval: pollMsOf(span),
  });
  const plots = useMemo(() => query.data && usagePlots(query.data), [query.data]);
  if (!plots) return null;
  const { tokens, cost, ...buckets } = plots;
  const bars = { ...buckets, kind: 'stacked', syncKey } as const;
  return (
    <>
      <Plot {...bars} title="Tokens of the workspace" unit={tokenUnit} series={tokens} />
      <Plot {...bars} title="Cost of the workspace" unit={dollarUnit} series={cost} />
    </>
  );
};
