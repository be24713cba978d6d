// Actions on many runs or threads, newest first. The server executes them, also when no page is open.
import type { Job } from '@svc/sdk';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Column, DataTable, RowToggle } from '../ui/data-table.tsx';
import { countOf } from '../ui/number-text.ts';
import { LoadedPages } from '../ui/paging.tsx';
import { State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { jobName } from './job-kinds.ts';
import { JobBadge, JobProgress } from './job-panel.tsx';
import { useJobs } from './job-queries.ts';

const route = getRouteApi('/jobs');

export const JobsPage = (): ReactNode => {
  const { sel } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useJobs();
  return (
    <div className="page">
      <header className="page-head">
        <h1>Jobs</h1>
        <span className="muted">Actions on many runs or threads, kept for seven days</span>
      </header>
      <div className="page-body" tabIndex={0} role="region" aria-label="Jobs">
        <LoadedPages
          query={query}
          rowsOf={(jobs) => jobs.filter(({ state }) => state !== 'preview')}
          empty={<NoJobs />}
          more="Load older jobs"
        >
          {(jobs) => (
            <DataTable
              rows={jobs}
              columns={columnsOf(sel, (id) => void navigate({ search: { sel: id }, replace: true }))}
              keyOf={({ job_id: id }) => id}
              opened={{
                key: sel,
                label: (job) => `${jobName(job)} ${job.job_id}`,
                details: (job) => <JobProgress job={job} />,
              }}
            />
          )}
        </LoadedPages>
      </div>
    </div>
  );
};

const NoJobs = (): ReactNode => (
  <State icon="jobs" title="There are no jobs">
    <p className="muted">The buttons of the lists of runs and threads start them.</p>
  </State>
);

const columnsOf = (opened: string | undefined, onOpen: (id: string | undefined) => void): Column<Job>[] => [
  { name: 'State', cell: ({ state }) => <JobBadge state={state} /> },
  {
    name: 'Job',
    cell: (job) => (
      <RowToggle
        label={`${jobName(job)} ${job.job_id}`}
        isOpen={job.job_id === opened}
        onToggle={() => onOpen(job.job_id === opened ? undefined : job.job_id)}
      >
        {jobName(job)}
      </RowToggle>
    ),
  },
  { name: 'Rows', className: 'number', cell: ({ total }) => countOf(total) },
  { name: 'Done', className: 'number', cell: ({ done }) => countOf(done) },
  { name: 'Failed', className: 'number', cell: ({ failed }) => countOf(failed) },
  { name: 'Skipped', className: 'number', cell: ({ skipped }) => countOf(skipped) },
  {
    name: 'Filter',
    className: 'wide mono',
    cell: ({ filter }) =>
      filter === null ? 'selected rows' : visibleText(JSON.stringify(filter).slice(0, 300)),
  },
  { name: 'Created', className: 'number', cell: (job) => <Ago at={job.created_at} /> },
];
