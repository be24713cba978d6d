// Traces of a workspace, newest first. The filter is the query string.
import { getRouteApi, Link } from '@tanstack/react-router';
import { ApiError, type PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { LoadOlder } from '../ui/paging.tsx';
import { Failure, Skeleton, State } from '../ui/states.tsx';
import { ForgetKey, KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { TraceFilters } from './trace-filters.tsx';
import { type TraceFilter, traceNeed, useTraceRuns } from './trace-queries.ts';
import { TraceTable } from './trace-table.tsx';

const route = getRouteApi('/traces');

export const TracesPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={traceNeed}>{(client) => <Traces client={client} />}</KeyGate>
  </div>
);

const isFiltered = ({ project, filter, since }: TraceFilter): boolean =>
  [project, filter, since].some((value) => value !== undefined);

const Traces = ({ client }: { client: PlatformClient }): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useTraceRuns(client, search);
  const change = (changed: TraceFilter): void =>
    void navigate({ search: { ...search, ...changed }, replace: true });
  if (needsOtherKey(query.error)) return <KeyForm need={traceNeed} refusal={query.error} />;
  // The only text that the server can reject is the filter: its error belongs to the field.
  const rejected = query.error instanceof ApiError && query.error.status === 422 ? query.error : undefined;
  return (
    <>
      <header className="page-head">
        <h1>Traces</h1>
        <div className="page-actions">
          <ForgetKey />
        </div>
      </header>
      <TraceFilters client={client} search={search} rejected={rejected} onChange={change} />
      <div className="page-body" tabIndex={0} role="region" aria-label="Traces">
        {rejected === undefined && <TraceList query={query} search={search} />}
      </div>
    </>
  );
};

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
