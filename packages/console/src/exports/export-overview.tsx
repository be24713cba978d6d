import type { BulkExport } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useDestinations } from '../platform/destinations.ts';
import { useProjects } from '../platform/projects.tsx';
import { Fact } from '../ui/panel.tsx';
import { LocalTime, Moment, Took } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

/** What was requested, and when it happened. */
export const ExportOverview = ({ found }: { found: BulkExport }): ReactNode => {
  const { data: projects = [] } = useProjects();
  const { data: destinations = [] } = useDestinations();
  const project = projects.find(({ id }) => id === found.session_id)?.name;
  const destinationId = found.bulk_export_destination_id;
  const destination = destinations.find(({ id }) => id === destinationId)?.display_name;
  return (
    <section className="panel" aria-label="Request">
      <dl className="facts pad">
        <Fact name="Project">
          <Link to="/traces" search={{ project: found.session_id }}>
            {visibleText(project ?? found.session_id)}
          </Link>
        </Fact>
        <Fact name="Destination">
          <Link to="/destinations/$destinationId" params={{ destinationId }}>
            {visibleText(destination ?? destinationId)}
          </Link>
        </Fact>
        <Fact name="Starts of trace runs">
          <LocalTime at={found.start_time} /> to{' '}
          {found.end_time === null ? 'no end' : <LocalTime at={found.end_time} />}
        </Fact>
        <Fact
          name="Filter"
          value={found.filter !== null && <span className="mono">{visibleText(found.filter)}</span>}
        />
        <Fact
          name="Schedule"
          value={
            found.source_bulk_export_id !== null && (
              <Link
                to="/exports/$exportId"
                params={{ exportId: found.source_bulk_export_id }}
                className="mono"
              >
                {found.source_bulk_export_id}
              </Link>
            )
          }
        />
        <Fact name="Files">
          {found.format}, {found.format_version}, layout {found.layout_version}, {found.compression}
        </Fact>
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
    <Fact name="Created" value={<Moment at={created} />} />
    <Fact name="Started" value={started !== null && <Moment at={started} />} />
    <Fact
      name="Took"
      value={started !== null && finished !== null && <Took from={started} to={finished} />}
    />
  </>
);
