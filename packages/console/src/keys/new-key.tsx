// Creates a key, and shows it once: no other response contains it, and the page keeps it only while the dialog is open.
import type { NewApiKey } from '@svc/sdk';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { usePlatform } from '../platform/platform-access.ts';
import { useWorkspaces } from '../platform/workspaces.ts';
import { Button } from '../ui/button.tsx';
import { CopyText } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../ui/form-field.tsx';
import { FormDialog, useForm } from '../ui/form.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { type KeyRole, roles } from './key-queries.ts';

interface Draft {
  description: string;
  role: KeyRole;
  /** Days as a text; empty for a key that does not expire. */
  days: string;
  /** Empty for the workspace of the request. */
  workspaces: string[];
}

const dayMs = 86_400_000;

export const NewKey = ({ onClose }: { onClose: () => void }): ReactNode => {
  const queries = useQueryClient();
  const { data: workspaces = [] } = useWorkspaces();
  const client = usePlatform();
  const form = useForm<Draft, NewApiKey>({
    initial: { description: '', role: 'viewer', days: '90', workspaces: [] },
    paths: { description: 'description', role: 'role', days: 'expires_at' },
    send: ({ description, role, days, workspaces: chosen }) =>
      client.keys.create({
        description,
        role,
        ...(days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() }),
        ...(chosen.length > 0 ? { workspaces: chosen } : {}),
      }),
    onSent: () => queries.invalidateQueries({ queryKey: ['workspaces', 'keys'] }),
  });
  if (form.result) return <ShownOnce created={form.result} onClose={onClose} />;
  const { draft, field, change } = form;
  return (
    <FormDialog title="New key" action="Create the key" form={form} onClose={onClose}>
      <TextField
        label="Description"
        isMono={false}
        hint="Who or what uses the key."
        {...field('description')}
      />
      <SelectField
        label="Role"
        choices={Object.entries(roles).map(([name, meaning]) => [name, `${name}: ${meaning}`])}
        {...field('role')}
      />
      <SelectField
        label="Expires"
        choices={[
          ['7', 'in 7 days'],
          ['30', 'in 30 days'],
          ['90', 'in 90 days'],
          ['365', 'in a year'],
          ['', 'never'],
        ]}
        {...field('days')}
      />
      {/* A key with one workspace can create keys for that workspace only. */}
      {workspaces.length > 1 && (
        <div className="form-field" role="group" aria-label="Workspaces">
          <p className="muted form-hint">Workspaces; without a choice, the one in use.</p>
          {workspaces.map(({ id, display_name: name }) => (
            <CheckField
              key={id}
              label={visibleText(name)}
              isChecked={draft.workspaces.includes(id)}
              onChange={(isChosen) => {
                const others = draft.workspaces.filter((one) => one !== id);
                change({ workspaces: isChosen ? [...others, id] : others });
              }}
            />
          ))}
        </div>
      )}
    </FormDialog>
  );
};

const ShownOnce = ({ created, onClose }: { created: NewApiKey; onClose: () => void }): ReactNode => (
  <Dialog
    title="The new key"
    // Escape and a click beside the dialog do not close it: the key would be lost.
    onClose={() => undefined}
    actions={
      <Button kind="primary" onClick={onClose}>
        I have saved the key
      </Button>
    }
  >
    <p>This is the only time that the key is shown. Copy it now.</p>
    <p className="copy-block">
      <CopyText text={created.key} label="the key" />
    </p>
  </Dialog>
);
