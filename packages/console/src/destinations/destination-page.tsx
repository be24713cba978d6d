// One destination: its connection check step by step, new credentials, and its deletion.
import type { Destination } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { MissingDestination } from '../app/missing.tsx';
import { placeOf } from '../platform/destinations.ts';
import { AdminButton, KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { usePlatform } from '../platform/platform-access.ts';
import { useReadOnly } from '../platform/workspaces.ts';
import { CopyId } from '../ui/copy.tsx';
import { AskFirst } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { Fact } from '../ui/panel.tsx';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { NewCredentials } from './credentials.tsx';
import { destinationNeed, useDestination } from './destination-queries.ts';
import { Failures } from './failures.tsx';
import { ProbeSteps } from './probe-steps.tsx';
import './destinations.css';

const route = getRouteApi('/destinations/$destinationId');

export const DestinationPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={destinationNeed}>
      <ReadDestination />
    </KeyGate>
  </div>
);

const ReadDestination = (): ReactNode => {
  const { destinationId } = route.useParams();
  const query = useDestination(destinationId);
  if (needsOtherKey(query.error)) return <KeyForm need={destinationNeed} refusal={query.error} />;
  return (
    <Loaded query={query} missing={MissingDestination}>
      {(destination) => <DestinationView key={destinationId} destination={destination} />}
    </Loaded>
  );
};

interface ViewProps {
  destination: Destination;
}

const DestinationView = ({ destination }: ViewProps): ReactNode => {
  const readOnly = useReadOnly();
  const [isChanging, setChanging] = useState(false);
  const [hasChanged, setChanged] = useState(false);
  const client = usePlatform();
  const test = useMutation({ mutationFn: () => client.destinations.test(destination.id) });
  return (
    <>
      <header className="page-head">
        <h1>{visibleText(destination.display_name)}</h1>
        <CopyId id={destination.id} label="destination id" />
        <div className="page-actions">
          <Link to="/exports" search={{ destination: destination.id }} className="button">
            Its exports
          </Link>
          <AdminButton readOnly={readOnly} isBusy={test.isPending} onPress={() => test.mutate()}>
            {test.isPending ? 'Testing…' : 'Test'}
          </AdminButton>
          {destination.destination_type === 's3' && (
            <AdminButton readOnly={readOnly} onPress={() => setChanging(true)}>
              Change credentials…
            </AdminButton>
          )}
          <DeleteButton destination={destination} readOnly={readOnly} />
        </div>
      </header>
      <div className="page-body pad stack" tabIndex={0} role="region" aria-label="Destination">
        {hasChanged && <CredentialsChanged destination={destination} />}
        <Failures destinationId={destination.id} />
        <ErrorNotice error={test.error} />
        {test.data && <ProbeSteps probe={test.data} />}
        <Facts destination={destination} />
      </div>
      {isChanging && (
        <NewCredentials
          destination={destination}
          onChanged={() => {
            setChanged(true);
            // Its outcome belongs to the old credentials.
            test.reset();
          }}
          onClose={() => setChanging(false)}
        />
      )}
    </>
  );
};

const CredentialsChanged = ({ destination: { id } }: ViewProps): ReactNode => (
  <div className="notice" data-tone="blue" role="status">
    <span className="notice-text">
      The credentials were changed, and a test file was written with them. Exports that have failed do not
      start again by themselves: the button <i>Export again…</i> on the page of an export creates it anew.
    </span>
    <Link to="/exports" search={{ destination: id, status: ['failed', 'timedout'] }}>
      Failed exports
    </Link>
  </div>
);

const Facts = ({ destination }: { destination: Destination }): ReactNode => {
  const { destination_type: type, credentials_keys: keys } = destination;
  return (
    <section className="panel" aria-label="Configuration">
      <dl className="facts pad">
        <Fact name="Place" value={<span className="mono">{visibleText(placeOf(destination))}</span>} />
        <Fact
          name="Credentials"
          value={
            type === 's3' &&
            (keys.length > 0 ? (
              <>
                {keys.map((name) => `${name} is set`).join(', ')}{' '}
                <span className="muted">Nobody can read them.</span>
              </>
            ) : (
              'those of the server'
            ))
          }
        />
        <Fact name="Created" value={<Moment at={destination.created_at} />} />
        <Fact name="Changed" value={<Moment at={destination.updated_at} />} />
        <Fact name="Configuration" value={<JsonTree value={destination.config} openDepth={2} />} />
      </dl>
    </section>
  );
};

const DeleteButton = ({ destination, readOnly }: ViewProps & { readOnly: string | undefined }): ReactNode => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const client = usePlatform();
  const remove = useMutation({
    mutationFn: () => client.destinations.delete(destination.id),
    onSuccess: async () => {
      await navigate({ to: '/destinations' });
      queries.removeQueries({ queryKey: ['exports', 'destinations', destination.id] });
      await queries.invalidateQueries({ queryKey: ['exports', 'destinations'] });
    },
  });
  return (
    <AskFirst
      trigger={(ask) => (
        <AdminButton readOnly={readOnly} kind="danger" onPress={ask}>
          <Icon name="trash" size={14} /> Delete…
        </AdminButton>
      )}
      title="Delete this destination?"
      action="Delete the destination"
      request={remove}
    >
      <p>
        Files that exist stay. A destination that an export refers to cannot be deleted. This cannot be
        undone.
      </p>
    </AskFirst>
  );
};
