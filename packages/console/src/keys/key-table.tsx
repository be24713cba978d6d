import type { ApiKey } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { AdminButton } from '../platform/key-gate.tsx';
import { usePlatform } from '../platform/platform-access.ts';
import { useWorkspaces } from '../platform/workspaces.ts';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { AskFirst } from '../ui/dialog.tsx';
import { timeTitle } from '../ui/time-text.ts';
import { Ago, Until } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { roles } from './key-queries.ts';

interface TableProps {
  keys: readonly ApiKey[];
  readOnly: string | undefined;
}

export const KeyTable = ({ keys, readOnly }: TableProps): ReactNode => {
  const { data: workspaces = [] } = useWorkspaces();
  const names = new Map(workspaces.map(({ id, display_name: name }) => [id, name]));
  const columns: Column<ApiKey>[] = [
    { name: 'Key', className: 'mono', cell: (key) => key.short_key },
    { name: 'Description', className: 'wide', cell: (key) => visibleText(key.description) },
    { name: 'Role', title: ({ role }) => roles[role], cell: ({ role }) => role },
    {
      name: 'Workspaces',
      className: 'optional',
      cell: (key) => visibleText(key.workspaces.map((id) => names.get(id) ?? id.slice(0, 8)).join(', ')),
    },
    {
      name: 'Last use',
      cell: ({ last_used_at: used }) => (used === null ? 'never' : <Ago at={used} />),
    },
    { name: 'Expires', cell: (key) => <Expiry at={key.expires_at} /> },
    { name: 'Created', className: 'optional', cell: (key) => <Ago at={key.created_at} /> },
    {
      name: <span className="visually-hidden">Actions</span>,
      cell: (key) => <Revoke apiKey={key} readOnly={readOnly} />,
    },
  ];
  return <DataTable rows={keys} columns={columns} keyOf={({ id }) => id} />;
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

const Revoke = ({ apiKey, readOnly }: Omit<TableProps, 'keys'> & { apiKey: ApiKey }): ReactNode => {
  const queries = useQueryClient();
  const { id, short_key: shortKey, last_used_at: used } = apiKey;
  const client = usePlatform();
  const revoke = useMutation({
    mutationFn: () => client.keys.revoke(id),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['workspaces', 'keys'] }),
  });
  return (
    <AskFirst
      trigger={(ask) => (
        <AdminButton readOnly={readOnly} kind="danger" onPress={ask}>
          Revoke…<span className="visually-hidden"> {shortKey}</span>
        </AdminButton>
      )}
      title={`Revoke the key ${shortKey}?`}
      action="Revoke the key"
      request={revoke}
    >
      <p>
        {used === null ? (
          'It has never been used.'
        ) : (
          <>
            It was last used <Ago at={used} />.
          </>
        )}{' '}
        Whoever uses it is refused from then on. This cannot be undone.
      </p>
    </AskFirst>
  );
};
