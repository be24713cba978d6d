// Traces of a workspace: a list, newest first, their threads, or charts. The filter is the query string.
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { NoMatch, State } from '../ui/states.tsx';
import { KeyGate } from '../platform/key-gate.tsx';
import { TraceCharts } from './trace-charts.tsx';
import { type TraceFilter, traceNeed, useTraceRuns, useTraceSeries } from './trace-queries.ts';
import { TraceTable } from './trace-table.tsx';
import { TraceThreads } from './trace-threads.tsx';
import { TracesView } from './traces-view.tsx';

const route = getRouteApi('/traces');

export const TracesPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={traceNeed}>
      <Traces />
    </KeyGate>
  </div>
);

const isFiltered = ({ project, filter, since, from, to }: TraceFilter): boolean =>
  [project, filter, since, from, to].some((value) => value !== undefined);

const Traces = (): ReactNode => {
  const { view } = route.useSearch();
  if (view === 'charts') return <ChartView />;
  return view === 'threads' ? <TraceThreads /> : <ListView />;
};

const ListView = (): ReactNode => {
  const { view: _, thread: __, ...filter } = route.useSearch();
  const query = useTraceRuns(filter);
  return (
    <TracesView error={query.error}>
      <TraceTable
        query={query}
        empty={<NoTraces isFiltered={isFiltered(filter)} />}
        more="Load older traces"
      />
    </TracesView>
  );
};

const ChartView = (): ReactNode => {
  const { view: _, thread: __, ...filter } = route.useSearch();
  const query = useTraceSeries(filter);
  return (
    <TracesView error={query.error}>
      <TraceCharts query={query} filter={filter} />
    </TracesView>
  );
};

const NoTraces = ({ isFiltered: hasFilter }: { isFiltered: boolean }): ReactNode =>
  hasFilter ? (
    <NoMatch noun="trace" to="/traces" />
  ) : (
    <State icon="empty" title="There are no traces yet">
      <p className="muted">
        <code>svc dev</code> records a trace of each run. <code>svc start</code> does so with:
      </p>
      <pre>SVC_TRACING=on npx svc start</pre>
    </State>
  );
