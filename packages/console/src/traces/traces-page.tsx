// Traces of a workspace: a list, newest first, or charts. The filter is the query string.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { LoadOlder } from '../ui/paging.tsx';
import { Failure, Skeleton, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { ForgetKey, KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { rejectedFilter } from './rejected-filter.ts';
import { TraceCharts } from './trace-charts.tsx';
import { TraceFilters, type TraceSearch } from './trace-filters.tsx';
import { type TraceFilter, traceNeed, useTraceRuns, useTraceSeries } from './trace-queries.ts';
import { TraceTable } from './trace-table.tsx';

const route = getRouteApi('/traces');

export const TracesPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={traceNeed}>{(client) => <Traces client={client} />}</KeyGate>
  </div>
);

const isFiltered = ({ project, filter, since, from, to }: TraceFilter): boolean =>
  [project, filter, since, from, to].some((value) => value !== undefined);

const Traces = ({ client }: { client: PlatformClient }): ReactNode =>
  route.useSearch().view === 'charts' ? <ChartView client={client} /> : <ListView client={client} />;

const ListView = ({ client }: { client: PlatformClient }): ReactNode => {
  const { view: _, ...filter } = route.useSearch();
  const query = useTraceRuns(client, filter);
  return (
    <View client={client} error={query.error}>
      <TraceList query={query} search={filter} />
    </View>
  );
};

const ChartView = ({ client }: { client: PlatformClient }): ReactNode => {
  const { view: _, ...filter } = route.useSearch();
  const query = useTraceSeries(client, filter);
  return (
    <View client={client} error={query.error}>
      <TraceCharts query={query} filter={filter} />
    </View>
  );
};

/** `error`: of what the view reads. */
const View = ({
  client,
  error,
  children,
}: {
  client: PlatformClient;
  error: Error | null;
  children: ReactNode;
}): ReactNode => {
  const search: TraceSearch = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: TraceSearch): void =>
    void navigate({ search: { ...search, ...changed }, replace: true });
  if (needsOtherKey(error)) return <KeyForm need={traceNeed} refusal={error} />;
  const rejected = rejectedFilter(error);
  return (
    <>
      <header className="page-head">
        <h1>Traces</h1>
        <div className="page-actions">
          <ForgetKey />
        </div>
      </header>
      <Tabs
        label="View of the traces"
        tabs={views}
        active={search.view ?? 'list'}
        onChange={(view) => change({ view: view === 'charts' ? view : undefined })}
      />
      <TraceFilters client={client} search={search} rejected={rejected} onChange={change} />
      <div className="page-body" tabIndex={0} role="region" aria-label="Traces">
        {rejected === undefined && children}
      </div>
    </>
  );
};

const views = [
  { name: 'list', label: 'List' },
  { name: 'charts', label: 'Charts' },
] as const;

const TraceList = ({
  query,
  search,
}: {
  query: ReturnType<typeof useTraceRuns>;
  search: TraceFilter;
}): ReactNode => {
  if (query.data === undefined)
    return query.error ? (
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton rows={12} />
    );
  const runs = query.data.pages.flatMap((page) => page.runs);
  const notice = query.data.pages.at(-1)?.notice;
  if (runs.length === 0 && !query.hasNextPage) return <NoTraces isFiltered={isFiltered(search)} />;
  return (
    <>
      {runs.length > 0 && <TraceTable runs={runs} />}
      {typeof notice === 'string' && (
        <p className="notice" data-tone="amber">
          {notice}
        </p>
      )}
      <LoadOlder query={query} label="Load older traces" />
    </>
  );
};

const NoTraces = ({ isFiltered: hasFilter }: { isFiltered: boolean }): ReactNode =>
  hasFilter ? (
    <State icon="empty" title="No trace matches the filter">
      <Link to="/traces" className="button">
        Clear the filter
      </Link>
    </State>
  ) : (
    <State icon="empty" title="There are no traces yet">
      <p className="muted">
        <code>svc dev</code> records a trace of each run. <code>svc start</code> does so with:
      </p>
      <pre>SVC_TRACING=on npx svc start</pre>
    </State>
  );
