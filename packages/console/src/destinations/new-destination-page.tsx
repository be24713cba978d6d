// Creates a destination. The server first writes a test file there; when that fails, its error is shown and nothing is created.
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FormPage } from '../platform/form-page.tsx';
import { KeyGate } from '../platform/key-gate.tsx';
import { usePlatform } from '../platform/platform-access.ts';
import { SelectField, TextField } from '../ui/form-field.tsx';
import { type Form, useForm } from '../ui/form.tsx';
import { CredentialsFields } from './credentials.tsx';
import {
  type DestinationDraft,
  destinationOf,
  destinationPaths,
  emptyDestination,
  problemsOf,
} from './destination-draft.ts';
import { newDestinationNeed } from './destination-queries.ts';

export const NewDestinationPage = (): ReactNode => (
  <div className="page">
    <KeyGate need={newDestinationNeed}>
      <DestinationForm />
    </KeyGate>
  </div>
);

const DestinationForm = (): ReactNode => {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const client = usePlatform();
  const form = useForm<DestinationDraft, { id: string }>({
    initial: emptyDestination,
    paths: destinationPaths,
    problemsOf,
    send: (draft) => client.destinations.create(destinationOf(draft)),
    onSent: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['exports', 'destinations'] });
      await navigate({ to: '/destinations/$destinationId', params: { destinationId: id } });
    },
  });
  return (
    <FormPage
      title="New destination"
      list={
        <Link to="/destinations" className="button">
          All destinations
        </Link>
      }
      action={form.isBusy ? 'Writing a test file…' : 'Test and create'}
      form={form}
      onCreate={form.submit}
    >
      <PlaceFields form={form} />
      {form.draft.type === 's3' && <CredentialsFields form={form} />}
    </FormPage>
  );
};

interface FieldsProps {
  form: Form<DestinationDraft, { id: string }>;
}

const PlaceFields = ({ form }: FieldsProps): ReactNode => (
  <fieldset>
    <legend>Place</legend>
    <TextField label="Name" isMono={false} {...form.field('name')} />
    <SelectField
      label="Type"
      choices={[
        ['s3', 'Bucket of a service with the S3 API'],
        ['file', 'Folder of the server'],
      ]}
      {...form.field('type')}
    />
    {form.draft.type === 'file' ? (
      <TextField
        label="Folder"
        placeholder="team-a"
        hint="Below the first folder of SVC_EXPORT_FILE_ROOTS, or an absolute path below one of them."
        {...form.field('path')}
      />
    ) : (
      <BucketFields form={form} />
    )}
  </fieldset>
);

const BucketFields = ({ form: { field } }: FieldsProps): ReactNode => (
  <>
    <div className="form-pair">
      <TextField label="Bucket" {...field('bucket')} />
      <TextField label="Prefix of all keys" {...field('prefix')} />
    </div>
    <div className="form-pair">
      <TextField label="Region" placeholder="us-east-1" {...field('region')} />
      <TextField
        label="Endpoint, for a service other than AWS"
        placeholder="https://minio.example.com"
        {...field('endpoint')}
      />
    </div>
  </>
);
