import type { BulkExport, PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { useExportEvents } from './export-queries.ts';

/** The newest on top. */
export const ExportEvents = ({ client, found }: { client: PlatformClient; found: BulkExport }): ReactNode => {
  const query = useExportEvents(client, found);
  return (
    <Loaded query={query}>
      {(events) => (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Event</th>
              <th scope="col">Day run</th>
              <th scope="col">Message</th>
            </tr>
          </thead>
          <tbody>
            {events.toReversed().map((event) => (
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
      )}
    </Loaded>
  );
};
