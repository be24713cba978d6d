import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { faultsOf } from '../ui/faults.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { FormProblems, TextField } from '../ui/form-field.tsx';

export const NewWorkspace = ({
  client,
  onClose,
}: {
  client: PlatformClient;
  onClose: () => void;
}): ReactNode => {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const create = useMutation({
    mutationFn: () => client.workspaces.create(name),
    onSuccess: async () => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['workspaces'] });
    },
  });
  const faults = faultsOf(create.error, ['display_name']);
  return (
    <FormDialog
      title="New workspace"
      action="Create the workspace"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        isMono={false}
        hint="Your key gets access to it. Workspaces share no traces, exports or destinations."
        text={name}
        problem={faults.at.get('display_name')}
        onChange={setName}
      />
      <FormProblems sentences={faults.rest} />
    </FormDialog>
  );
};
