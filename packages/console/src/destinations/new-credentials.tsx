import { useQueryClient } from '@tanstack/react-query';
import type { Destination, PlatformClient } from '@svc/sdk';
import type { ReactNode } from 'react';
import { FormDialog, useForm } from '../ui/form.tsx';
import { CredentialsFields } from './credentials-fields.tsx';
import { credentialsOf, credentialsPaths, type CredentialsDraft } from './destination-draft.ts';

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
  const form = useForm<CredentialsDraft>({
    initial: { keyId: '', secret: '', sessionToken: '', role: '' },
    paths: credentialsPaths,
    send: (draft) => {
      const credentials = credentialsOf(draft);
      return client.destinations.rotate(destination.id, {
        ...(credentials && { credentials }),
        ...(draft.role === '' ? {} : { aws_role_arn: draft.role }),
      });
    },
    onSent: async () => {
      onChanged();
      onClose();
      await queries.invalidateQueries({ queryKey: ['exports', 'destinations'] });
    },
  });
  return (
    <FormDialog
      title="Change the credentials"
      action={form.isBusy ? 'Writing a test file…' : 'Test and change'}
      form={form}
      onClose={onClose}
    >
      <CredentialsFields form={form} />
    </FormDialog>
  );
};
