import type { Destination } from '@svc/sdk';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { usePlatform } from '../platform/platform-access.ts';
import { TextField } from '../ui/form-field.tsx';
import { type Form, FormDialog, useForm } from '../ui/form.tsx';
import { type CredentialsDraft, credentialsOf, credentialsPaths } from './destination-draft.ts';

/** Replaces the credentials. The server writes a test file with the new ones first; when that fails, the old ones stay. */
export const NewCredentials = ({
  destination,
  onChanged,
  onClose,
}: {
  destination: Destination;
  onChanged: () => void;
  onClose: () => void;
}): ReactNode => {
  const queries = useQueryClient();
  const client = usePlatform();
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

/** Secrets go in and never come out: no response contains them, and the fields do not let the browser store them. */
export const CredentialsFields = ({
  form: { field },
}: {
  form: Pick<Form<CredentialsDraft>, 'field'>;
}): ReactNode => (
  <fieldset>
    <legend>Credentials</legend>
    <div className="form-pair">
      <TextField label="Access key id" {...field('keyId')} />
      <TextField label="Secret access key" type="password" autoComplete="new-password" {...field('secret')} />
    </div>
    <TextField
      label="Session token, for temporary credentials"
      type="password"
      autoComplete="new-password"
      {...field('sessionToken')}
    />
    <TextField
      label="Role that the server assumes instead"
      placeholder="arn:aws:iam::123456789012:role/exports"
      {...field('role')}
    />
    <p className="muted form-hint">
      Credentials are stored encrypted, and no page or response shows them again. Without any, the server uses
      its own if it may.
    </p>
  </fieldset>
);
