import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { forgetAnswers, KeyForm, needsOtherKey } from '../platform/key-gate.tsx';
import { chooseWorkspace, useAccess, usePlatform } from '../platform/platform-access.ts';
import { useWorkspaces } from '../platform/workspaces.ts';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { TextField } from '../ui/form-field.tsx';
import { FormDialog, useForm } from '../ui/form.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { keysNeed } from './key-queries.ts';

/** The workspaces of the key, and which of them the pages of traces, exports and keys show. */
export const WorkspaceTable = (): ReactNode => {
  const queries = useQueryClient();
  const access = useAccess();
  const query = useWorkspaces();
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

export const NewWorkspace = ({ onClose }: { onClose: () => void }): ReactNode => {
  const queries = useQueryClient();
  const client = usePlatform();
  const form = useForm({
    initial: { name: '' },
    paths: { name: 'display_name' },
    send: ({ name }) => client.workspaces.create(name),
    onSent: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['workspaces'] });
    },
  });
  return (
    <FormDialog title="New workspace" action="Create the workspace" form={form} onClose={onClose}>
      <TextField
        label="Name"
        isMono={false}
        hint="Your key gets access to it. Workspaces share no traces, exports or destinations."
        {...form.field('name')}
      />
    </FormDialog>
  );
};
