import { Link, useNavigate } from '@tanstack/react-router';
import type { BulkExport, Destination, PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useProjects } from '../platform/projects.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Ago, LocalTime, Until } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { ExportBadge } from './export-badge.tsx';
import { shareOf } from './export-share.ts';
import { progressTones, statusOf } from '../platform/export-status.ts';
import { countOf, sizeOf } from './sizes.ts';

export const ExportTable = ({
  client,
  exports,
  destinations,
}: {
  client: PlatformClient;
  exports: readonly BulkExport[];
  destinations: readonly Destination[];
}): ReactNode => {
  const { data: projects = [] } = useProjects(client);
  const projectNames = new Map(projects.map(({ id, name }) => [id, name]));
  const places = new Map(destinations.map(({ id, display_name: name }) => [id, name]));
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Export</th>
          <th scope="col">Project</th>
          <th scope="col">Destination</th>
          <th scope="col" className="optional">
            From
          </th>
          <th scope="col" className="optional">
            To
          </th>
          <th scope="col">Progress</th>
          <th scope="col" className="number">
            Rows
          </th>
          <th scope="col" className="number">
            Size
          </th>
          <th scope="col">Error</th>
          <th scope="col" className="number">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {exports.map((found) => (
          <Row
            key={found.id}
            found={found}
            project={projectNames.get(found.session_id)}
            place={places.get(found.bulk_export_destination_id)}
          />
        ))}
      </tbody>
    </table>
  );
};

/** Longer names would push the other columns out of the page; the title has all of a name. */
const nameMax = 32;

const Row = ({
  found,
  project,
  place,
}: {
  found: BulkExport;
  project: string | undefined;
  place: string | undefined;
}): ReactNode => {
  const navigate = useNavigate();
  const target = { to: '/exports/$exportId', params: { exportId: found.id } } as const;
  const { progress, interval_hours: hours, next_export_at: next } = found;
  const share = shareOf(found);
  const isSchedule = statusOf(found) === 'intervalscheduled';
  return (
    <tr onClick={() => void navigate(target)}>
      <td>
        <ExportBadge of={found} />
      </td>
      <td>
        <Link {...target} data-row className="mono" aria-label={`Export ${found.id}`}>
          {found.id.slice(0, 8)}
        </Link>
      </td>
      <td title={project}>{visibleText((project ?? found.session_id.slice(0, 8)).slice(0, nameMax))}</td>
      <td title={place}>
        {visibleText((place ?? found.bulk_export_destination_id.slice(0, 8)).slice(0, nameMax))}
      </td>
      <td className="optional">
        <LocalTime at={found.start_time} isShort />
      </td>
      <td className="optional">{found.end_time !== null && <LocalTime at={found.end_time} isShort />}</td>
      <td>
        {isSchedule ? (
          <>
            every {hours} h
            {next !== null && (
              <>
                {' '}
                · next <Until at={next} />
              </>
            )}
          </>
        ) : (
          <ProgressBar
            value={share.value}
            max={share.max}
            label={`Progress of export ${found.id.slice(0, 8)}`}
            tone={progressTones[statusOf(found)]}
          />
        )}
      </td>
      <td className="number">{isSchedule ? '' : countOf(progress.rows_written)}</td>
      <td className="number">{isSchedule ? '' : sizeOf(progress.bytes_written)}</td>
      <td className="wide" title={found.error ?? undefined}>
        {visibleText(found.error ?? '')}
      </td>
      <td className="number">
        <Ago at={found.created_at} />
      </td>
    </tr>
  );
};
