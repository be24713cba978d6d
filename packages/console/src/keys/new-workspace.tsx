import { useQueryClient } from '@tanstack/react-query';
import type { PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { TextField } from '../ui/form-field.tsx';
import { FormDialog, useForm } from '../ui/form.tsx';

export const NewWorkspace = ({
  client,
  onClose,
}: {
  client: PlatformClient;
  onClose: () => void;
}): ReactNode => {
  const queries = useQueryClient();
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
