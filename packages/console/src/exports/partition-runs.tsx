// The partition runs of an export: one for each UTC day.
import type { BulkExport, ExportRun } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  exportStatuses,
  isOpenExport,
  lastErrorOf,
  progressTones,
  statusLabels,
  statusOf,
} from '../platform/export-status.ts';
import { type Column, DataTable, RowToggle } from '../ui/data-table.tsx';
import { StatusChips } from '../ui/filters.tsx';
import { Icon } from '../ui/icons.tsx';
import { countOf, countText, sizeOf } from '../ui/number-text.ts';
import { pageNumber, Pager, pageText } from '../ui/paging.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { LocalTime, Until } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { ExportBadge } from './export-badge.tsx';
import { usePartitionRuns } from './export-queries.ts';

const route = getRouteApi('/exports/$exportId');

/** A partition run is never a schedule. */
const runStatuses = exportStatuses.filter((status) => status !== 'intervalscheduled');

export const PartitionRuns = ({ found }: { found: BulkExport }): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePartitionRuns(found, search);
  const change = (changed: Partial<typeof search>): void =>
    void navigate({ search: { ...search, page: undefined, ...changed }, replace: true });
  if (statusOf(found) === 'intervalscheduled')
    return (
      <State icon="exports" title="A schedule has no days of its own">
        <p className="muted">It creates an export for each of its windows.</p>
        <Link to="/exports" search={{ schedule: found.id }} className="button">
          Its exports
        </Link>
      </State>
    );
  return (
    <>
      <div className="filters" role="search" aria-label="Filter of days">
        <StatusChips
          label="Status of days"
          statuses={runStatuses}
          names={statusLabels}
          chosen={search.status}
          onChange={(status) => change({ status })}
        />
      </div>
      <Loaded query={query}>
        {(runs) =>
          runs.length === 0 ? (
            <State icon="empty" title="No day has this status" />
          ) : (
            <Days
              runs={runs}
              found={found}
              opened={search.run}
              onOpen={(run) => change({ ...search, run })}
            />
          )
        }
      </Loaded>
      <Pager
        page={pageNumber(search.page)}
        count={query.data?.length}
        labels={['Earlier', 'Later']}
        onPage={(next) => change({ page: pageText(next) })}
      />
    </>
  );
};

interface DaysProps {
  runs: readonly ExportRun[];
  found: BulkExport;
  opened: string | undefined;
  onOpen: (run: string | undefined) => void;
}

const Days = ({ runs, found, opened, onOpen }: DaysProps): ReactNode => (
  <>
    {sameErrors(runs).map(({ message, days, isRetried }) => (
      <div key={message} className="pad">
        <div className="notice" data-tone={isRetried ? 'amber' : 'red'}>
          <Icon name="warning" />
          <span className="notice-text">
            {days === 1
              ? '1 day is retried after an error'
              : `${countText(days, 'day')} ${isRetried ? 'are retried after' : 'have failed with'} the same error`}
            : {visibleText(message)}
          </span>
          <Link
            to="/destinations/$destinationId"
            params={{ destinationId: found.bulk_export_destination_id }}
          >
            Test the destination
          </Link>
        </div>
      </div>
    ))}
    <DataTable
      rows={runs}
      columns={columnsOf(opened, onOpen)}
      keyOf={({ id }) => id}
      opened={{ key: opened, label: () => 'Attempts', details: (run) => <Attempts run={run} /> }}
    />
  </>
);

const columnsOf = (opened: string | undefined, onOpen: DaysProps['onOpen']): Column<ExportRun>[] => [
  { name: 'Status', cell: (run) => <ExportBadge of={run} /> },
  {
    name: 'Day of UTC',
    cell: (run) => (
      <RowToggle
        label={`Attempts of ${dayOf(run)}`}
        isOpen={run.id === opened}
        onToggle={() => onOpen(run.id === opened ? undefined : run.id)}
      >
        {dayOf(run)}
      </RowToggle>
    ),
  },
  {
    name: 'Progress',
    cell: (run) => (
      <ProgressBar
        value={run.progress.percent}
        label={`Progress of ${dayOf(run)}`}
        tone={progressTones[statusOf(run)]}
      />
    ),
  },
  { name: 'Rows', className: 'number', cell: ({ progress }) => countOf(progress.rows_written) },
  { name: 'Files', className: 'number', cell: ({ progress }) => countOf(progress.files) },
  { name: 'Size', className: 'number', cell: ({ progress }) => sizeOf(progress.bytes_written) },
  { name: 'Attempt', className: 'number', cell: ({ progress }) => progress.attempt },
  {
    name: 'Next try',
    cell: ({ progress: { next_retry_at: next } }) => next !== null && <Until at={next} />,
  },
  { name: 'Last error', className: 'wide', cell: (run) => visibleText(lastErrorOf(run) ?? '') },
];

const dayOf = (run: ExportRun): string => run.metadata.start_time.slice(0, 10);

const Attempts = ({ run }: { run: ExportRun }): ReactNode => {
  const errors = Object.entries(run.errors ?? {});
  return (
    <>
      <p className="muted">
        <LocalTime at={run.metadata.start_time} /> to <LocalTime at={run.metadata.end_time} />
      </p>
      {errors.length === 0 && <p>No attempt has failed.</p>}
      {errors.map(([name, message]) => (
        <p key={name}>
          <strong>attempt {Number(/\d+$/.exec(name)?.[0] ?? 0) + 1}</strong> {visibleText(message)}
        </p>
      ))}
    </>
  );
};

// Many days of an export fail with the same error. The page shows each error once, with the number of its days.
interface SameError {
  /** As the store has reported it for the first of the days. */
  message: string;
  days: number;
  /** Whether further attempts follow. */
  isRetried: boolean;
}

/** Removes the id of the request, which differs between equal errors. */
const withoutRequest = (message: string): string => message.replaceAll(/\(request [^)]*\)/g, '');

/** Errors that several partition runs have, or for which one is retried. The most frequent error is first. */
export const sameErrors = (runs: readonly ExportRun[]): SameError[] => {
  const byReason = new Map<string, SameError>();
  for (const run of runs) {
    const message = ['completed', 'cancelled'].includes(statusOf(run)) ? undefined : lastErrorOf(run);
    if (message === undefined) continue;
    const reason = withoutRequest(message);
    const group = byReason.get(reason) ?? { message, days: 0, isRetried: false };
    byReason.set(reason, {
      ...group,
      days: group.days + 1,
      isRetried: group.isRetried || isOpenExport(run),
    });
  }
  return [...byReason.values()]
    .filter(({ days, isRetried }) => days > 1 || isRetried)
    .toSorted((a, b) => b.days - a.days);
};
