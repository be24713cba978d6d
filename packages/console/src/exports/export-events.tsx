import type { BulkExport, PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { LoadOlder } from '../ui/paging.tsx';
import { Failure, Skeleton } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { useExportEvents } from './export-queries.ts';

/** The history of an export, the oldest event first. */
export const ExportEvents = ({ client, found }: { client: PlatformClient; found: BulkExport }): ReactNode => {
  const query = useExportEvents(client, found);
  if (query.data === undefined)
    return query.error ? <Failure error={query.error} onRetry={() => void query.refetch()} /> : <Skeleton />;
  return (
    <>
      <table className="table events">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Event</th>
            <th scope="col">Partition run</th>
            <th scope="col">Message</th>
          </tr>
        </thead>
        <tbody>
          {query.data.pages.flat().map((event) => (
            <tr key={event.id}>
              <td>
                <Ago at={event.at} />
              </td>
              <td className="mono">{event.type}</td>
              <td className="mono">{event.run_id?.slice(0, 8) ?? ''}</td>
              <td className="wide" title={event.message}>
                {visibleText(event.message)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <LoadOlder query={query} label="Load later events" />
    </>
  );
};
