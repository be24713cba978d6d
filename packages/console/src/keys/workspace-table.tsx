import { useQueryClient } from '@tanstack/react-query';
import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { forgetAnswers, KeyForm, needsOtherKey } from '../platform/key-gate.tsx';
import { chooseWorkspace, useAccess } from '../platform/platform-access.ts';
import { useWorkspaces } from '../platform/workspaces.ts';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy-id.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { keysNeed } from './key-queries.ts';

/** The workspaces of the key, and which of them the pages of traces, exports and keys show. */
export const WorkspaceTable = ({ client }: { client: PlatformClient }): ReactNode => {
  const queries = useQueryClient();
  const access = useAccess();
  const query = useWorkspaces(client);
  if (needsOtherKey(query.error)) return <KeyForm need={keysNeed} refusal={query.error} />;
  const use = (id: string): void => {
    chooseWorkspace(id);
    forgetAnswers(queries);
  };
  return (
    <Loaded query={query}>
      {(workspaces) => (
        <DataTable
          rows={workspaces}
          columns={[
            {
              name: 'Workspace',
              className: 'wide',
              cell: ({ display_name: name }) => visibleText(name),
            },
            { name: 'Id', cell: ({ id }) => <CopyId id={id} label="workspace id" /> },
            { name: 'Role of your key', cell: ({ role_name: role }) => visibleText(role) },
            { name: 'Created', cell: ({ created_at: created }) => <Ago at={created} /> },
            {
              name: 'Shown',
              cell: ({ id, display_name: name }) =>
                workspaces.length === 1 || access?.workspaceId === id ? (
                  'in use'
                ) : (
                  <Button onClick={() => use(id)}>
                    Use<span className="visually-hidden"> {visibleText(name)}</span>
                  </Button>
                ),
            },
          ]}
          keyOf={({ id }) => id}
        />
      )}
    </Loaded>
  );
};
