import type { Job, JobRow } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { usePagedQuery } from '../api/paged-query.ts';
import type { RunStatus, ThreadStatus } from '../api/statuses.ts';
import { RunBadge, StatusBadge } from '../ui/badge.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { LoadedPages, pageSize } from '../ui/paging.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

const status: Column<JobRow> = {
  name: 'Status',
  cell: ({ run_id: run, status: found }) =>
    run === null ? <StatusBadge status={found as ThreadStatus} /> : <RunBadge status={found as RunStatus} />,
};

const created: Column<JobRow> = {
  name: 'Created',
  className: 'number',
  cell: (row) => <Ago at={row.created_at} />,
};

/** Without links: a dialog covers the page. */
export const previewColumns = (noun: 'run' | 'thread'): Column<JobRow>[] => [
  status,
  {
    name: noun === 'run' ? 'Run' : 'Thread',
    className: 'mono wide',
    cell: ({ run_id: run, thread_id: thread }) => (run ?? thread).slice(0, 8),
  },
  created,
];

const resultColumns: Column<JobRow>[] = [
  {
    name: 'Result',
    cell: ({ result }) => (
      <span className="badge" data-tone={result === 'failed' ? 'red' : 'grey'}>
        {result}
      </span>
    ),
  },
  {
    name: 'Row',
    className: 'mono',
    cell: ({ run_id: runId, thread_id: threadId }) =>
      runId === null ? (
        <Link to="/threads/$threadId" params={{ threadId }} aria-label={`Thread ${threadId}`}>
          {threadId.slice(0, 8)}
        </Link>
      ) : (
        <Link to="/runs/$runId" params={{ runId }} search={{ thread: threadId }} aria-label={`Run ${runId}`}>
          {runId.slice(0, 8)}
        </Link>
      ),
  },
  { name: 'Reason', className: 'wide', cell: ({ reason }) => visibleText(reason ?? '') },
  created,
];

/** The rows that failed or were skipped, with the reason. */
export const JobRows = ({ job: { job_id: id, failed, skipped } }: { job: Job }): ReactNode => {
  const client = useClient();
  const query = usePagedQuery({
    queryKey: ['jobs rows', id, failed + skipped],
    read: (after: number | undefined, call) =>
      client.jobs.rows(id, { result: ['failed', 'skipped'], limit: pageSize, after }, call),
    next: ({ next }) => next,
  });
  return (
    <div className="job-sample" tabIndex={0} role="region" aria-label="Rows that failed or were skipped">
      <LoadedPages
        query={query}
        rowsOf={({ rows }) => rows}
        empty={<p className="muted pad">No row has failed or was skipped.</p>}
        more="Load more rows"
      >
        {(rows) => <DataTable rows={rows} columns={resultColumns} keyOf={({ position }) => position} />}
      </LoadedPages>
    </div>
  );
};
