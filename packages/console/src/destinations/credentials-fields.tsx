import type { ReactNode } from 'react';
import type { Faults } from '../ui/faults.ts';
import { TextField } from '../ui/form-field.tsx';
import type { CredentialsDraft } from './destination-draft.ts';

/** Secrets go in and never come out: no response contains them, and the fields do not let the browser store them. */
export const CredentialsFields = ({
  draft,
  role,
  faults,
  onChange,
}: {
  draft: CredentialsDraft;
  role: string;
  faults: Faults;
  onChange: (changed: Partial<CredentialsDraft> & { role?: string }) => void;
}): ReactNode => (
  <fieldset>
    <legend>Credentials</legend>
    <div className="form-pair">
      <TextField
        label="Access key id"
        text={draft.keyId}
        problem={faults.at.get('credentials.access_key_id')}
        onChange={(keyId) => onChange({ keyId })}
      />
      <TextField
        label="Secret access key"
        type="password"
        autoComplete="new-password"
        text={draft.secret}
        problem={faults.at.get('credentials.secret_access_key')}
        onChange={(secret) => onChange({ secret })}
      />
    </div>
    <TextField
      label="Session token, for temporary credentials"
      type="password"
      autoComplete="new-password"
      text={draft.sessionToken}
      problem={faults.at.get('credentials.session_token')}
      onChange={(sessionToken) => onChange({ sessionToken })}
    />
    <TextField
      label="Role that the server assumes instead"
      placeholder="arn:aws:iam::123456789012:role/exports"
      text={role}
      problem={faults.at.get('aws_role_arn')}
      onChange={(next) => onChange({ role: next })}
    />
    <p className="muted form-hint">
      Credentials are stored encrypted, and no page or response shows them again. Without any, the server uses
      its own if it may.
    </p>
  </fieldset>
);
