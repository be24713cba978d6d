// Buckets and folders to which exports are written.
import type { Destination } from '@svc/sdk';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { placeOf, useDestinations } from '../platform/destinations.ts';
import { ExportTabs } from '../platform/export-tabs.tsx';
import { AdminButton, ForgetKey, KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { useReadOnly } from '../platform/workspaces.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Icon } from '../ui/icons.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { destinationNeed } from './destination-queries.ts';

export const DestinationsPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={destinationNeed}>
      <Destinations />
    </KeyGate>
  </div>
);

const Destinations = (): ReactNode => {
  const navigate = useNavigate();
  const readOnly = useReadOnly();
  const query = useDestinations();
  if (needsOtherKey(query.error)) return <KeyForm need={destinationNeed} refusal={query.error} />;
  return (
    <>
      <header className="page-head">
        <h1>Destinations</h1>
        <ExportTabs />
        <div className="page-actions">
          <ForgetKey />
          <AdminButton readOnly={readOnly} onPress={() => void navigate({ to: '/destinations/new' })}>
            <Icon name="plus" size={14} /> New destination…
          </AdminButton>
        </div>
      </header>
      <div className="page-body" tabIndex={0} role="region" aria-label="Destinations">
        <Loaded query={query}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns}
              keyOf={({ id }) => id}
              empty={
                <State icon="exports" title="There are no destinations yet">
                  <p className="muted">
                    A destination is the place where exports write: a bucket of a service with the S3 API, or
                    a folder of the server.
                  </p>
                  <Link to="/destinations/new" className="button" data-kind="primary">
                    Create a destination
                  </Link>
                </State>
              }
            />
          )}
        </Loaded>
      </div>
    </>
  );
};

const columns: readonly Column<Destination>[] = [
  {
    name: 'Name',
    cell: ({ id, display_name: name }) => (
      <Link to="/destinations/$destinationId" params={{ destinationId: id }} data-row>
        {visibleText(name)}
      </Link>
    ),
  },
  { name: 'Type', cell: ({ destination_type: type }) => (type === 's3' ? 'bucket' : 'folder') },
  { name: 'Place', className: 'wide mono', cell: (destination) => visibleText(placeOf(destination)) },
  {
    name: 'Credentials',
    cell: ({ destination_type: type, credentials_keys: keys }) =>
      type === 's3' && (keys.length > 0 ? 'stored' : 'of the server'),
  },
  { name: 'Changed', className: 'number', cell: (destination) => <Ago at={destination.updated_at} /> },
];
