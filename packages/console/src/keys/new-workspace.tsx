import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { faultsOf } from '../ui/faults.ts';
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
  const submit = (): void => {
    if (!create.isPending) create.mutate();
  };
  return (
    <Dialog
      title="New workspace"
      onClose={onClose}
      actions={
        <DialogActions
          action="Create the workspace"
          isDisabled={create.isPending}
          onAction={submit}
          onClose={onClose}
        />
      }
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
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
      </form>
    </Dialog>
  );
};
