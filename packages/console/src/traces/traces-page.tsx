// Traces of a workspace: a list, newest first, their threads, or charts. The filter is the query string.
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type KeptSettings, useListSettings } from '../app/list-settings.ts';
import { ListTools } from '../app/list-tools.tsx';
import { usePlatform } from '../platform/platform-access.ts';
import { NoMatch, State } from '../ui/states.tsx';
import { KeyGate } from '../platform/key-gate.tsx';
import { TraceCharts } from './trace-charts.tsx';
import { type TraceFilter, traceNeed, traceRequest, useTraceRuns, useTraceSeries } from './trace-queries.ts';
import { TraceTable, traceTableColumns } from './trace-table.tsx';
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
  const settings = useListSettings('traces');
  return (
    <TracesView error={query.error} tools={<TraceListTools filter={filter} settings={settings} />}>
      <TraceTable
        query={query}
        toggled={settings.toggled}
        empty={<NoTraces isFiltered={isFiltered(filter)} />}
        more="Load older traces"
      />
    </TracesView>
  );
};

const downloadPage = 100;

const TraceListTools = ({ filter, settings }: { filter: TraceFilter; settings: KeptSettings }): ReactNode => {
  const client = usePlatform();
  const body = traceRequest(filter, Date.now());
  return (
    <ListTools
      list="traces"
      settings={settings}
      columns={traceTableColumns}
      request={{
        call: { method: 'POST', path: '/api/v1/runs/query', body, isPlatform: true },
        read: async (cursor, signal) => {
          const page = await client.traces.query({ ...body, limit: downloadPage, cursor }, { signal });
          return { rows: page.runs, next: page.cursors.next ?? undefined };
        },
      }}
    />
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
