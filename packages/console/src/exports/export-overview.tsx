import { Link } from '@tanstack/react-router';
import type { BulkExport, PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useDestinations } from '../platform/destinations.ts';
import { useProjects } from '../platform/projects.ts';
import { Took } from '../ui/time.tsx';
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
  const { started_at: started, finished_at: finished } = found;
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
        <dd className="mono">
          {found.start_time} to {found.end_time ?? 'no end'}
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
        <dt>Created</dt>
        <dd className="mono">{found.created_at}</dd>
        {started !== null && (
          <>
            <dt>Started</dt>
            <dd className="mono">{started}</dd>
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
      </dl>
    </section>
  );
};
