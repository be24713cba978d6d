import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApiKey, PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { AdminButton } from '../platform/admin-button.tsx';
import { useWorkspaces } from '../platform/workspaces.ts';
import { Confirm } from '../ui/dialog.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { timeTitle } from '../ui/time-text.ts';
import { Ago, Until } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { roles } from './key-queries.ts';

interface TableProps {
  client: PlatformClient;
  keys: readonly ApiKey[];
  readOnly: string | undefined;
}

export const KeyTable = ({ client, keys, readOnly }: TableProps): ReactNode => {
  const [revoked, setRevoked] = useState<ApiKey>();
  return (
    <>
      <table className="table keys">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Description</th>
            <th scope="col">Role</th>
            <th scope="col" className="optional">
              Workspaces
            </th>
            <th scope="col">Last use</th>
            <th scope="col">Expires</th>
            <th scope="col" className="optional">
              Created
            </th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <Row
              key={key.id}
              client={client}
              apiKey={key}
              readOnly={readOnly}
              onRevoke={() => setRevoked(key)}
            />
          ))}
        </tbody>
      </table>
      {revoked && (
        <Revoke key={revoked.id} client={client} apiKey={revoked} onClose={() => setRevoked(undefined)} />
      )}
    </>
  );
};

const Row = ({
  client,
  apiKey,
  readOnly,
  onRevoke,
}: {
  client: PlatformClient;
  apiKey: ApiKey;
  readOnly: string | undefined;
  onRevoke: () => void;
}): ReactNode => {
  const { data: workspaces = [] } = useWorkspaces(client);
  const names = new Map(workspaces.map(({ id, display_name: name }) => [id, name]));
  const { short_key: shortKey, expires_at: expires, last_used_at: used } = apiKey;
  return (
    <tr>
      <td className="mono">{shortKey}</td>
      <td className="wide">{visibleText(apiKey.description)}</td>
      <td title={roles[apiKey.role]}>{apiKey.role}</td>
      <td className="optional">
        {visibleText(apiKey.workspaces.map((id) => names.get(id) ?? id.slice(0, 8)).join(', '))}
      </td>
      <td>{used === null ? 'never' : <Ago at={used} />}</td>
      <td>
        <Expiry at={expires} />
      </td>
      <td className="optional">
        <Ago at={apiKey.created_at} />
      </td>
      <td>
        <AdminButton readOnly={readOnly} kind="danger" onPress={onRevoke}>
          Revoke…<span className="visually-hidden"> {shortKey}</span>
        </AdminButton>
      </td>
    </tr>
  );
};

const Expiry = ({ at }: { at: string | null }): ReactNode => {
  if (at === null) return 'never';
  return Date.parse(at) > Date.now() ? (
    <Until at={at} />
  ) : (
    <span className="badge" data-tone="red" title={timeTitle(at)}>
      expired
    </span>
  );
};

const Revoke = ({
  client,
  apiKey,
  onClose,
}: {
  client: PlatformClient;
  apiKey: ApiKey;
  onClose: () => void;
}): ReactNode => {
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => client.keys.revoke(apiKey.id),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['workspaces', 'keys'] });
    },
  });
  return (
    <Confirm
      title={`Revoke the key ${apiKey.short_key}?`}
      action="Revoke the key"
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      <p>
        {apiKey.last_used_at === null ? (
          'It has never been used.'
        ) : (
          <>
            It was last used <Ago at={apiKey.last_used_at} />.
          </>
        )}{' '}
        Whoever uses it is refused from then on. This cannot be undone.
      </p>
      <ErrorNotice error={revoke.error} />
    </Confirm>
  );
};
