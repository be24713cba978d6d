import type { TraceRun } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { shownColumns } from '../app/list-settings.ts';
import { TraceBadge } from '../ui/badge.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { duration } from '../ui/duration.ts';
import { costOf, tokensOf } from '../ui/number-text.ts';
import { LoadedPages } from '../ui/paging.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import type { useTraceRuns } from './trace-queries.ts';

const nameMax = 80;
const errorMax = 300;

const TraceLink = ({ run: { id, trace_id: traceId, name } }: { run: TraceRun }): ReactNode => {
  const shown = visibleText(name.slice(0, nameMax));
  return (
    <Link
      to="/traces/$traceId"
      params={{ traceId }}
      search={id === traceId ? {} : { sel: id }}
      data-row
      aria-label={`Trace run ${shown}, ${id}`}
    >
      {shown}
    </Link>
  );
};

export const traceColumns = {
  status: { name: 'Status', cell: (run) => <TraceBadge of={run} /> },
  took: {
    name: 'Took',
    className: 'number',
    cell: ({ start_time: start, end_time: end }) =>
      start !== null && end !== null && duration(Date.parse(end) - Date.parse(start)),
  },
  started: {
    name: 'Started',
    className: 'number',
    cell: ({ start_time: start }) => start !== null && <Ago at={start} />,
  },
} satisfies Record<string, Column<TraceRun>>;

export const traceTableColumns: readonly Column<TraceRun>[] = [
  traceColumns.status,
  { name: 'Name', isFixed: true, cell: (run) => <TraceLink run={run} /> },
  { name: 'Type', className: 'optional', cell: (run) => visibleText(run.run_type) },
  {
    name: 'Error',
    className: 'wide',
    cell: ({ error }) => visibleText((error ?? '').slice(0, errorMax).split('\n')[0] ?? ''),
  },
  traceColumns.took,
  { name: 'Tokens', className: 'number optional', cell: (run) => tokensOf(run.total_tokens) },
  { name: 'Cost', className: 'number optional', cell: (run) => costOf(run.total_cost) },
  traceColumns.started,
];

/** The trace runs of a query, and the notice of a search that has stopped early. */
export const TraceTable = ({
  query,
  toggled = [],
  label,
  empty,
  more,
}: {
  query: ReturnType<typeof useTraceRuns>;
  toggled?: readonly string[];
  label?: (count: number) => string;
  empty: ReactNode;
  more: string;
}): ReactNode => (
  <LoadedPages query={query} rowsOf={({ runs }) => runs} empty={empty} more={more}>
    {(runs, pages) => (
      <>
        {runs.length > 0 && (
          <DataTable
            rows={runs}
            columns={shownColumns(traceTableColumns, toggled)}
            keyOf={({ id }) => id}
            label={label?.(runs.length)}
          />
        )}
        <PageNotice notice={pages.at(-1)?.notice} />
      </>
    )}
  </LoadedPages>
);

/** The notice of the server on the last page, when the search has stopped before its end. */
export const PageNotice = ({ notice }: { notice: string | null | undefined }): ReactNode =>
  typeof notice === 'string' && (
    <p className="notice" data-tone="amber">
      {notice}
    </p>
  );
