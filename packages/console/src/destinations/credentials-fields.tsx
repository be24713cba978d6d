import type { ReactNode } from 'react';
import { TextField } from '../ui/form-field.tsx';
import type { Form } from '../ui/form.tsx';
import type { CredentialsDraft } from './destination-draft.ts';

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
