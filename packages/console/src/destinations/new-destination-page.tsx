// Creates a destination. The server first writes a test file there; when that fails, its error is shown and nothing is created.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { PlatformClient } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { AdminButton } from '../platform/admin-button.tsx';
import { KeyGate } from '../platform/key-gate.tsx';
import { useReadOnly } from '../platform/workspaces.ts';
import { faultsOf, withFaults, type Faults } from '../ui/faults.ts';
import { FormProblems, SelectField, TextField } from '../ui/form-field.tsx';
import { CredentialsFields } from './credentials-fields.tsx';
import {
  destinationOf,
  destinationPaths,
  emptyDestination,
  problemsOf,
  type DestinationDraft,
} from './destination-draft.ts';
import { newDestinationNeed } from './destination-queries.ts';

export const NewDestinationPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={newDestinationNeed}>{(client) => <DestinationForm client={client} />}</KeyGate>
  </div>
);

const DestinationForm = ({ client }: { client: PlatformClient }): ReactNode => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const readOnly = useReadOnly();
  const [draft, setDraft] = useState(emptyDestination);
  const create = useMutation({
    mutationFn: () => client.destinations.create(destinationOf(draft)),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['exports', 'destinations'] });
      await navigate({ to: '/destinations/$destinationId', params: { destinationId: id } });
    },
    // The cache would keep the secrets for minutes after the form is closed.
    gcTime: 0,
  });
  const [hasAsked, setAsked] = useState(false);
  const problems = problemsOf(draft);
  const found = faultsOf(create.error, destinationPaths);
  const faults = hasAsked ? withFaults(found, problems) : found;
  const submit = (): void => {
    setAsked(true);
    if (problems.size > 0) create.reset();
    else if (readOnly === undefined && !create.isPending) create.mutate();
  };
  const change = (changed: Partial<DestinationDraft>): void => setDraft({ ...draft, ...changed });
  return (
    <>
      <header className="page-head">
        <h1>New destination</h1>
        <div className="page-actions">
          <Link to="/destinations" className="button">
            All destinations
          </Link>
        </div>
      </header>
      <div className="page-body pad" tabIndex={0} role="region" aria-label="New destination">
        <form
          className="form"
          autoComplete="off"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <PlaceFields draft={draft} faults={faults} onChange={change} />
          {draft.type === 's3' && (
            <CredentialsFields draft={draft} role={draft.role} faults={faults} onChange={change} />
          )}
          <FormProblems sentences={faults.rest} />
          <div className="row">
            <AdminButton readOnly={readOnly} kind="primary" isBusy={create.isPending} onPress={submit}>
              {create.isPending ? 'Writing a test file…' : 'Test and create'}
            </AdminButton>
            {readOnly !== undefined && <span className="muted">{readOnly}.</span>}
          </div>
        </form>
      </div>
    </>
  );
};

interface FieldsProps {
  draft: DestinationDraft;
  faults: Faults;
  onChange: (changed: Partial<DestinationDraft>) => void;
}

const PlaceFields = ({ draft, faults, onChange }: FieldsProps): ReactNode => (
  <fieldset>
    <legend>Place</legend>
    <TextField
      label="Name"
      isMono={false}
      text={draft.name}
      problem={faults.at.get('display_name')}
      onChange={(name) => onChange({ name })}
    />
    <SelectField
      label="Type"
      value={draft.type}
      onChange={(value) => onChange({ type: value as DestinationDraft['type'] })}
    >
      <option value="s3">Bucket of a service with the S3 API</option>
      <option value="file">Folder of the server</option>
    </SelectField>
    {draft.type === 'file' ? (
      <TextField
        label="Folder"
        placeholder="team-a"
        hint="Below the first folder of SVC_EXPORT_FILE_ROOTS, or an absolute path below one of them."
        text={draft.path}
        problem={faults.at.get('config.path')}
        onChange={(path) => onChange({ path })}
      />
    ) : (
      <BucketFields draft={draft} faults={faults} onChange={onChange} />
    )}
  </fieldset>
);

const BucketFields = ({ draft, faults, onChange }: FieldsProps): ReactNode => (
  <>
    <div className="form-pair">
      <TextField
        label="Bucket"
        text={draft.bucket}
        problem={faults.at.get('config.bucket_name')}
        onChange={(bucket) => onChange({ bucket })}
      />
      <TextField
        label="Prefix of all keys"
        text={draft.prefix}
        problem={faults.at.get('config.prefix')}
        onChange={(prefix) => onChange({ prefix })}
      />
    </div>
    <div className="form-pair">
      <TextField
        label="Region"
        placeholder="us-east-1"
        text={draft.region}
        problem={faults.at.get('config.region')}
        onChange={(region) => onChange({ region })}
      />
      <TextField
        label="Endpoint, for a service other than AWS"
        placeholder="https://minio.example.com"
        text={draft.endpoint}
        problem={faults.at.get('config.endpoint_url')}
        onChange={(endpoint) => onChange({ endpoint })}
      />
    </div>
  </>
);
