// Keys of a workspace, and the workspaces of the key that is used.
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { AdminButton, ForgetKey, KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { useReadOnly } from '../platform/workspaces.ts';
import { Icon } from '../ui/icons.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { keysNeed, useKeys } from './key-queries.ts';
import { KeyTable } from './key-table.tsx';
import { NewKey } from './new-key.tsx';
import { NewWorkspace, WorkspaceTable } from './workspaces.tsx';

const route = getRouteApi('/keys');

export const KeysPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={keysNeed}>
      <KeysAndWorkspaces />
    </KeyGate>
  </div>
);

const tabs = [
  { name: 'keys', label: 'Keys' },
  { name: 'workspaces', label: 'Workspaces' },
] as const;

const KeysAndWorkspaces = (): ReactNode => {
  const { tab = 'keys' } = route.useSearch();
  const navigate = route.useNavigate();
  const readOnly = useReadOnly();
  const [isCreating, setCreating] = useState(false);
  const close = (): void => setCreating(false);
  return (
    <>
      <header className="page-head" data-tabs>
        <h1>Keys</h1>
        <div className="page-actions">
          <ForgetKey />
          <AdminButton readOnly={readOnly} onPress={() => setCreating(true)}>
            <Icon name="plus" size={14} /> {tab === 'keys' ? 'New key…' : 'New workspace…'}
          </AdminButton>
        </div>
      </header>
      <Tabs
        label="Keys and workspaces"
        tabs={tabs}
        active={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
      />
      <div className="page-body" tabIndex={0} role="region" aria-label={tab}>
        {tab === 'keys' ? <Keys readOnly={readOnly} /> : <WorkspaceTable />}
      </div>
      {isCreating && tab === 'keys' && <NewKey onClose={close} />}
      {isCreating && tab === 'workspaces' && <NewWorkspace onClose={close} />}
    </>
  );
};

const Keys = ({ readOnly }: { readOnly: string | undefined }): ReactNode => {
  const query = useKeys();
  if (needsOtherKey(query.error)) return <KeyForm need={keysNeed} refusal={query.error} />;
  return (
    <Loaded query={query}>
      {(keys) =>
        keys.length === 0 ? (
          <State icon="keys" title="There are no keys that yours may see" />
        ) : (
          <KeyTable keys={keys} readOnly={readOnly} />
        )
      }
    </Loaded>
  );
};
