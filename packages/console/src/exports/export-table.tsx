import type { BulkExport } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDestinations } from '../platform/destinations.ts';
import { progressTones, statusOf } from '../platform/export-status.ts';
import { useProjects } from '../platform/projects.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { countOf, sizeOf } from '../ui/number-text.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Ago, LocalTime, Until } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { ExportBadge } from './export-badge.tsx';
import { shareOf } from './export-share.ts';

/** Longer names would push the other columns out of the page; the title has all of a name. */
const nameMax = 32;

const isSchedule = (found: BulkExport): boolean => statusOf(found) === 'intervalscheduled';

/** Shows the name of the project or destination that an export refers to by id. */
const nameColumn = (
  name: string,
  names: ReadonlyMap<string, string>,
  idOf: (found: BulkExport) => string,
): Column<BulkExport> => ({
  name,
  title: (found) => names.get(idOf(found)),
  cell: (found) => visibleText((names.get(idOf(found)) ?? idOf(found).slice(0, 8)).slice(0, nameMax)),
});

const columnsOf = (
  projects: ReadonlyMap<string, string>,
  places: ReadonlyMap<string, string>,
): Column<BulkExport>[] => [
  { name: 'Status', cell: (found) => <ExportBadge of={found} /> },
  {
    name: 'Export',
    cell: ({ id }) => (
      <Link
        to="/exports/$exportId"
        params={{ exportId: id }}
        data-row
        className="mono"
        aria-label={`Export ${id}`}
      >
        {id.slice(0, 8)}
      </Link>
    ),
  },
  nameColumn('Project', projects, (found) => found.session_id),
  nameColumn('Destination', places, (found) => found.bulk_export_destination_id),
  { name: 'From', className: 'optional', cell: (found) => <LocalTime at={found.start_time} isShort /> },
  {
    name: 'To',
    className: 'optional',
    cell: ({ end_time: end }) => end !== null && <LocalTime at={end} isShort />,
  },
  { name: 'Progress', cell: (found) => <Progress of={found} /> },
  {
    name: 'Rows',
    className: 'number',
    cell: (found) => !isSchedule(found) && countOf(found.progress.rows_written),
  },
  {
    name: 'Size',
    className: 'number',
    cell: (found) => !isSchedule(found) && sizeOf(found.progress.bytes_written),
  },
  {
    name: 'Error',
    className: 'wide',
    title: ({ error }) => error ?? undefined,
    cell: ({ error }) => visibleText(error ?? ''),
  },
  { name: 'Created', className: 'number', cell: (found) => <Ago at={found.created_at} /> },
];

export const ExportTable = ({
  exports,
  empty,
}: {
  exports: readonly BulkExport[];
  empty: ReactNode;
}): ReactNode => {
  const { data: projects = [] } = useProjects();
  const { data: destinations = [] } = useDestinations();
  const projectNames = new Map(projects.map(({ id, name }) => [id, name]));
  const places = new Map(destinations.map(({ id, display_name: name }) => [id, name]));
  return (
    <DataTable
      rows={exports}
      columns={columnsOf(projectNames, places)}
      keyOf={({ id }) => id}
      empty={empty}
    />
  );
};

const Progress = ({ of: found }: { of: BulkExport }): ReactNode => {
  const { id, interval_hours: hours, next_export_at: next } = found;
  const { value, max } = shareOf(found);
  if (!isSchedule(found))
    return (
      <ProgressBar
        value={value}
        max={max}
        label={`Progress of export ${id.slice(0, 8)}`}
        tone={progressTones[statusOf(found)]}
      />
    );
  return (
    <>
      every {hours} h
      {next !== null && (
        <>
          {' '}
          · next <Until at={next} />
        </>
      )}
    </>
  );
};
