import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Destination, PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { faultsOf } from '../ui/faults.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { FormProblems } from '../ui/form-field.tsx';
import { CredentialsFields } from './credentials-fields.tsx';
import { credentialsOf, destinationPaths } from './destination-draft.ts';

/** Replaces the credentials. The server writes a test file with the new ones first; when that fails, the old ones stay. */
export const NewCredentials = ({
  client,
  destination,
  onChanged,
  onClose,
}: {
  client: PlatformClient;
  destination: Destination;
  onChanged: () => void;
  onClose: () => void;
}): ReactNode => {
  const queries = useQueryClient();
  const [draft, setDraft] = useState({ keyId: '', secret: '', sessionToken: '', role: '' });
  const rotate = useMutation({
    mutationFn: () => {
      const credentials = credentialsOf(draft);
      return client.destinations.rotate(destination.id, {
        ...(credentials && { credentials }),
        ...(draft.role === '' ? {} : { aws_role_arn: draft.role }),
      });
    },
    onSuccess: async () => {
      onChanged();
      onClose();
      await queries.invalidateQueries({ queryKey: ['exports', 'destinations'] });
    },
    // The cache would keep the secrets for minutes after the form is closed.
    gcTime: 0,
  });
  const faults = faultsOf(rotate.error, destinationPaths);
  return (
    <FormDialog
      title="Change the credentials"
      action={rotate.isPending ? 'Writing a test file…' : 'Test and change'}
      isBusy={rotate.isPending}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      <CredentialsFields
        draft={draft}
        role={draft.role}
        faults={faults}
        onChange={(changed) => setDraft({ ...draft, ...changed })}
      />
      <FormProblems sentences={faults.rest} />
    </FormDialog>
  );
};
