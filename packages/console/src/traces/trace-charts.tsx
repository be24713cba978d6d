// How many traces there were over time, how long they took, and what their models used.
import type { UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo, type ReactNode } from 'react';
import { Plot } from '../plots/plot.tsx';
import { countUnit, dollarUnit, durationAxis, tokenUnit } from '../plots/units.ts';
import { ErrorNotice, Loaded, State } from '../ui/states.tsx';
import { traceCharts, type TraceSeries } from './chart-series.ts';
import type { TraceFilter } from './trace-queries.ts';

const route = getRouteApi('/traces');
/** The charts share a cursor. */
const syncKey = 'traces';

export const TraceCharts = ({
  query,
  filter,
}: {
  query: UseQueryResult<TraceSeries>;
  filter: TraceFilter;
}): ReactNode => (
  <>
    <ErrorNotice error={query.data && query.error} />
    <Loaded query={query}>{(series) => <Charts series={series} filter={filter} />}</Loaded>
  </>
);

const Charts = ({ series, filter }: { series: TraceSeries; filter: TraceFilter }): ReactNode => {
  const navigate = route.useNavigate();
  const charts = useMemo(() => traceCharts(series), [series]);
  const { times, bucketMs } = charts;
  const openList = useCallback(
    (fromMs: number, toMs: number) =>
      void navigate({
        search: {
          ...filter,
          since: undefined,
          from: new Date(fromMs).toISOString(),
          to: new Date(toMs).toISOString(),
        },
      }),
    [navigate, filter],
  );
  if (charts.isEmpty) return <NoTraces isFiltered={(filter.project ?? filter.filter) !== undefined} />;
  const what = filter.runs === 'all' ? 'Trace runs' : 'Traces';
  const shared = { times, bucketMs, syncKey, onPick: openList };
  const lines = { ...shared, kind: 'lines', ...durationAxis } as const;
  return (
    <div className="plots">
      <Plot {...shared} title={what} kind="stacked" unit={countUnit} series={charts.counts} />
      <Plot {...lines} title={`Latency of ${what.toLowerCase()}`} series={charts.latency} />
      <Plot {...lines} title="Time to the first token" series={charts.firstToken} />
      <Plot {...shared} title="Tokens" kind="stacked" unit={tokenUnit} series={charts.tokens} />
      <Plot {...shared} title="Cost" kind="stacked" unit={dollarUnit} series={charts.cost} />
    </div>
  );
};

const NoTraces = ({ isFiltered }: { isFiltered: boolean }): ReactNode => (
  <State icon="empty" title={isFiltered ? 'No trace matches the filter' : 'No trace started in this time'}>
    {isFiltered ? (
      <Link to="/traces" search={{ view: 'charts' }} className="button">
        Clear the filter
      </Link>
    ) : (
      <p className="muted">Choose a longer time, or open the list.</p>
    )}
  </State>
);
