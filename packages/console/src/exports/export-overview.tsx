import { Link } from '@tanstack/react-router';
import type { BulkExport, PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useDestinations } from '../platform/destinations.ts';
import { useProjects } from '../platform/projects.ts';
import { LocalTime, Moment, Took } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';

/** What was requested, and when it happened. */
export const ExportOverview = ({
  client,
  found,
}: {
  client: PlatformClient;
  found: BulkExport;
}): ReactNode => {
  const { data: projects = [] } = useProjects(client);
  const { data: destinations = [] } = useDestinations(client);
  const project = projects.find(({ id }) => id === found.session_id)?.name;
  const destinationId = found.bulk_export_destination_id;
  const destination = destinations.find(({ id }) => id === destinationId)?.display_name;
  return (
    <section className="panel" aria-label="Request">
      <dl className="facts pad">
        <dt>Project</dt>
        <dd>
          <Link to="/traces" search={{ project: found.session_id }}>
            {visibleText(project ?? found.session_id)}
          </Link>
        </dd>
        <dt>Destination</dt>
        <dd>
          <Link to="/destinations/$destinationId" params={{ destinationId }}>
            {visibleText(destination ?? destinationId)}
          </Link>
        </dd>
        <dt>Starts of trace runs</dt>
        <dd>
          <LocalTime at={found.start_time} /> to{' '}
          {found.end_time === null ? 'no end' : <LocalTime at={found.end_time} />}
        </dd>
        {found.filter !== null && (
          <>
            <dt>Filter</dt>
            <dd className="mono">{visibleText(found.filter)}</dd>
          </>
        )}
        {found.source_bulk_export_id !== null && (
          <>
            <dt>Schedule</dt>
            <dd>
              <Link
                to="/exports/$exportId"
                params={{ exportId: found.source_bulk_export_id }}
                className="mono"
              >
                {found.source_bulk_export_id}
              </Link>
            </dd>
          </>
        )}
        <dt>Files</dt>
        <dd>
          {found.format}, {found.format_version}, layout {found.layout_version}, {found.compression}
        </dd>
        <Times found={found} />
      </dl>
    </section>
  );
};

const Times = ({
  found: { created_at: created, started_at: started, finished_at: finished },
}: {
  found: BulkExport;
}): ReactNode => (
  <>
    <dt>Created</dt>
    <dd>
      <Moment at={created} />
    </dd>
    {started !== null && (
      <>
        <dt>Started</dt>
        <dd>
          <Moment at={started} />
        </dd>
      </>
    )}
    {started !== null && finished !== null && (
      <>
        <dt>Took</dt>
        <dd>
          <Took from={started} to={finished} />
        </dd>
      </>
    )}
  </>
);
