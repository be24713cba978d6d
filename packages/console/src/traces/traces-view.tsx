// The frame of the views of traces: tabs, filters, and what keeps a view from being read.
import { getRouteApi } from '@tanstack/react-router';
import { ApiError } from '@svc/sdk';
import type { ReactNode } from 'react';
import { ForgetKey, KeyForm, needsOtherKey } from '../platform/key-gate.tsx';
import { faultsOf } from '../ui/faults.ts';
import { Tabs } from '../ui/tabs.tsx';
import { TraceFilters, type TraceSearch } from './trace-filters.tsx';
import { traceNeed } from './trace-queries.ts';

const route = getRouteApi('/traces');

/** `error`: of what the view reads. */
export const TracesView = ({
  error,
  tools,
  children,
}: {
  error: Error | null;
  /** Buttons of the view. */
  tools?: ReactNode;
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
          {rejected === undefined && tools}
        </div>
      </header>
      <Tabs
        label="View of the traces"
        tabs={views}
        active={search.view ?? 'list'}
        onChange={(view) => change({ view: view === 'list' ? undefined : view })}
      />
      <TraceFilters search={search} rejected={rejected} onChange={change} />
      <div className="page-body" tabIndex={0} role="region" aria-label="Traces">
        {rejected === undefined && children}
      </div>
    </>
  );
};

const views = [
  { name: 'list', label: 'List' },
  { name: 'threads', label: 'Threads' },
  { name: 'charts', label: 'Charts' },
] as const;

/** The parameters of a request that contain the filter: charts request whole traces by the second one. */
const names = ['filter', 'trace_filter'];

/** The error if the server has rejected the filter: it belongs to the field. Any other error belongs to the page. */
export const rejectedFilter = (error: Error | null): ApiError | undefined =>
  error instanceof ApiError && error.status === 422 && faultsOf(error, names).at.size > 0 ? error : undefined;
