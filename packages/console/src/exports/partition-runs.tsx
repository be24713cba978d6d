// The partition runs of an export: one for each UTC day.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { BulkExport, ExportRun, PlatformClient } from '@svc/sdk';
import { Fragment, type ReactNode } from 'react';
import { Icon } from '../ui/icons.tsx';
import { pageNumber, Pager, pageText } from '../ui/paging.tsx';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { StatusChips } from '../ui/status-chips.tsx';
import { LocalTime, Until } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { ExportBadge } from './export-badge.tsx';
import { usePartitionRuns } from './export-queries.ts';
import { exportStatuses, progressTones, statusLabels, statusOf } from '../platform/export-status.ts';
import { lastErrorOf } from '../platform/last-error.ts';
import { sameErrors } from './same-errors.ts';
import { countOf, plural, sizeOf } from './sizes.ts';

const route = getRouteApi('/exports/$exportId');

/** A partition run is never a schedule. */
const runStatuses = exportStatuses.filter((status) => status !== 'intervalscheduled');

export const PartitionRuns = ({
  client,
  found,
}: {
  client: PlatformClient;
  found: BulkExport;
}): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePartitionRuns(client, found, search);
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
              : `${plural(days, 'day')} ${isRetried ? 'are retried after' : 'have failed with'} the same error`}
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
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Day of UTC</th>
          <th scope="col">Progress</th>
          <th scope="col" className="number">
            Rows
          </th>
          <th scope="col" className="number">
            Files
          </th>
          <th scope="col" className="number">
            Size
          </th>
          <th scope="col" className="number">
            Attempt
          </th>
          <th scope="col">Next try</th>
          <th scope="col">Last error</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <Fragment key={run.id}>
            <Day run={run} isOpen={run.id === opened} onOpen={onOpen} />
            {run.id === opened && <Attempts run={run} />}
          </Fragment>
        ))}
      </tbody>
    </table>
  </>
);

const Day = ({
  run,
  isOpen,
  onOpen,
}: {
  run: ExportRun;
  isOpen: boolean;
  onOpen: (run: string | undefined) => void;
}): ReactNode => {
  const { progress, metadata } = run;
  const day = metadata.start_time.slice(0, 10);
  const toggle = (): void => onOpen(isOpen ? undefined : run.id);
  return (
    <tr onClick={toggle} aria-selected={isOpen}>
      <td>
        <ExportBadge of={run} />
      </td>
      <td>
        <button
          type="button"
          data-row
          className="button mono"
          data-kind="plain"
          aria-expanded={isOpen}
          aria-label={`Attempts of ${day}`}
          onClick={(event) => (event.stopPropagation(), toggle())}
        >
          {day}
        </button>
      </td>
      <td>
        <ProgressBar
          value={progress.percent}
          label={`Progress of ${day}`}
          tone={progressTones[statusOf(run)]}
        />
      </td>
      <td className="number">{countOf(progress.rows_written)}</td>
      <td className="number">{countOf(progress.files)}</td>
      <td className="number">{sizeOf(progress.bytes_written)}</td>
      <td className="number">{progress.attempt}</td>
      <td>{progress.next_retry_at !== null && <Until at={progress.next_retry_at} />}</td>
      <td className="wide">{visibleText(lastErrorOf(run) ?? '')}</td>
    </tr>
  );
};

const Attempts = ({ run }: { run: ExportRun }): ReactNode => {
  const errors = Object.entries(run.errors ?? {});
  return (
    <tr className="export-attempts">
      <td colSpan={9} className="export-attempts-cell">
        <div className="export-errors" role="region" aria-label="Attempts">
          <p className="muted">
            <LocalTime at={run.metadata.start_time} /> to <LocalTime at={run.metadata.end_time} />
          </p>
          {errors.length === 0 && <p>No attempt has failed.</p>}
          {errors.map(([name, message]) => (
            <p key={name}>
              <strong>attempt {Number(/\d+$/.exec(name)?.[0] ?? 0) + 1}</strong> {visibleText(message)}
            </p>
          ))}
        </div>
      </td>
    </tr>
  );
};
