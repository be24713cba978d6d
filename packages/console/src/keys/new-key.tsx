// Creates a key, and shows it once: no other response contains it, and the page keeps it only while the dialog is open.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { NewApiKey, PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useWorkspaces } from '../platform/workspaces.ts';
import { CopyText } from '../ui/copy-text.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { faultsOf } from '../ui/faults.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { FormProblems, SelectField, TextField } from '../ui/form-field.tsx';
import { visibleText } from '../values/visible-text.ts';
import { roles, type KeyRole } from './key-queries.ts';

interface Draft {
  description: string;
  role: KeyRole;
  /** Days as a text; empty for a key that does not expire. */
  days: string;
  /** Empty for the workspace of the request. */
  workspaces: string[];
}

const dayMs = 86_400_000;

const paths = ['description', 'role', 'expires_at', 'workspaces'];

export const NewKey = ({ client, onClose }: { client: PlatformClient; onClose: () => void }): ReactNode => {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft>({ description: '', role: 'viewer', days: '90', workspaces: [] });
  const create = useMutation({
    mutationFn: () =>
      client.keys.create({
        description: draft.description,
        role: draft.role,
        ...(draft.days === ''
          ? {}
          : { expires_at: new Date(Date.now() + Number(draft.days) * dayMs).toISOString() }),
        ...(draft.workspaces.length > 0 ? { workspaces: draft.workspaces } : {}),
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['workspaces', 'keys'] }),
    // The cache would keep the key for minutes after the dialog is closed.
    gcTime: 0,
  });
  if (create.data) return <ShownOnce created={create.data} onClose={onClose} />;
  const faults = faultsOf(create.error, paths);
  const change = (changed: Partial<Draft>): void => setDraft({ ...draft, ...changed });
  return (
    <FormDialog
      title="New key"
      action="Create the key"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Description"
        isMono={false}
        hint="Who or what uses the key."
        text={draft.description}
        problem={faults.at.get('description')}
        onChange={(description) => change({ description })}
      />
      <RoleField role={draft.role} problem={faults.at.get('role')} onChange={(role) => change({ role })} />
      <SelectField
        label="Expires"
        problem={faults.at.get('expires_at')}
        value={draft.days}
        onChange={(value) => change({ days: value })}
      >
        <option value="7">in 7 days</option>
        <option value="30">in 30 days</option>
        <option value="90">in 90 days</option>
        <option value="365">in a year</option>
        <option value="">never</option>
      </SelectField>
      <WorkspaceFields
        client={client}
        chosen={draft.workspaces}
        onChange={(workspaces) => change({ workspaces })}
      />
      <FormProblems sentences={[...faults.rest, ...[faults.at.get('workspaces') ?? []].flat()]} />
    </FormDialog>
  );
};

const RoleField = ({
  role,
  problem,
  onChange,
}: {
  role: KeyRole;
  problem: string | undefined;
  onChange: (role: KeyRole) => void;
}): ReactNode => (
  <SelectField label="Role" problem={problem} value={role} onChange={(value) => onChange(value as KeyRole)}>
    {Object.entries(roles).map(([name, meaning]) => (
      <option key={name} value={name}>
        {name}: {meaning}
      </option>
    ))}
  </SelectField>
);

/** Only for a key that has several workspaces: another one can give access to its own workspace only. */
const WorkspaceFields = ({
  client,
  chosen,
  onChange,
}: {
  client: PlatformClient;
  chosen: string[];
  onChange: (workspaces: string[]) => void;
}): ReactNode => {
  const { data: workspaces = [] } = useWorkspaces(client);
  if (workspaces.length < 2) return null;
  return (
    <div className="form-field" role="group" aria-label="Workspaces">
      <p className="muted form-hint">Workspaces; without a choice, the one in use.</p>
      {workspaces.map(({ id, display_name: name }) => (
        <label key={id} className="row">
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
            }
          />
          {visibleText(name)}
        </label>
      ))}
    </div>
  );
};

const ShownOnce = ({ created, onClose }: { created: NewApiKey; onClose: () => void }): ReactNode => (
  <Dialog
    title="The new key"
    // Escape and a click beside the dialog do not close it: the key would be lost.
    onClose={() => undefined}
    actions={
      <button type="button" className="button" data-kind="primary" onClick={onClose}>
        I have saved the key
      </button>
    }
  >
    <p>This is the only time that the key is shown. Copy it now.</p>
    <p className="copy-block">
      <CopyText text={created.key} label="the key" />
    </p>
  </Dialog>
);
