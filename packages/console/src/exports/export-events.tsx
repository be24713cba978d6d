import type { BulkExport, ExportEvent, PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { LoadedPages } from '../ui/paging.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useExportEvents } from './export-queries.ts';

const columns: readonly Column<ExportEvent>[] = [
  { name: 'When', cell: ({ at }) => <Ago at={at} /> },
  { name: 'Event', className: 'mono', cell: ({ type }) => type },
  { name: 'Partition run', className: 'mono', cell: (event) => event.run_id?.slice(0, 8) },
  {
    name: 'Message',
    className: 'wide',
    title: ({ message }) => message,
    cell: ({ message }) => visibleText(message),
  },
];

/** The history of an export, the oldest event first. */
export const ExportEvents = ({ client, found }: { client: PlatformClient; found: BulkExport }): ReactNode => (
  <LoadedPages query={useExportEvents(client, found)} rowsOf={(events) => events} more="Load later events">
    {(events) => <DataTable rows={events} columns={columns} keyOf={({ id }) => id} />}
  </LoadedPages>
);
