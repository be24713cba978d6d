// The form of a new destination as text, and the request that it becomes.
import type { NewDestination } from '@svc/sdk';

export interface CredentialsDraft {
  keyId: string;
  secret: string;
  sessionToken: string;
  role: string;
}

export interface DestinationDraft extends CredentialsDraft {
  type: 's3' | 'file';
  name: string;
  bucket: string;
  prefix: string;
  region: string;
  endpoint: string;
  path: string;
}

export const emptyDestination: DestinationDraft = {
  type: 's3',
  name: '',
  bucket: '',
  prefix: '',
  region: '',
  endpoint: '',
  role: '',
  path: '',
  keyId: '',
  secret: '',
  sessionToken: '',
};

/** The paths of the request that the form has fields for. */
export const credentialsPaths = {
  keyId: 'credentials.access_key_id',
  secret: 'credentials.secret_access_key',
  sessionToken: 'credentials.session_token',
  role: 'aws_role_arn',
} as const;

export const destinationPaths = {
  name: 'display_name',
  bucket: 'config.bucket_name',
  prefix: 'config.prefix',
  region: 'config.region',
  endpoint: 'config.endpoint_url',
  path: 'config.path',
  ...credentialsPaths,
} as const;

/** Like the server's rule. */
const plainName = /^[a-zA-Z0-9\-_ ']+$/;

/** What the form requires before it sends a request, by path. */
export const problemsOf = (draft: DestinationDraft): ReadonlyMap<string, string> =>
  new Map([
    ...(plainName.test(draft.name)
      ? []
      : [['display_name', "Enter a name of letters, digits, spaces, and the characters - _ '."] as const]),
    ...(draft.type === 's3' && draft.bucket === ''
      ? [['config.bucket_name', 'Enter the name of the bucket.'] as const]
      : []),
    ...(draft.type === 'file' && draft.path === '' ? [['config.path', 'Enter a folder.'] as const] : []),
  ]);

/** Fields without text are left out: the server then uses its defaults. */
const filled = <T extends Record<string, string>>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== '')) as Partial<T>;

/** Undefined when no field has text. */
export const credentialsOf = (
  draft: Omit<CredentialsDraft, 'role'>,
): { access_key_id: string; secret_access_key: string; session_token?: string } | undefined => {
  const { keyId, secret, sessionToken } = draft;
  return keyId === '' && secret === '' && sessionToken === ''
    ? undefined
    : { access_key_id: keyId, secret_access_key: secret, ...filled({ session_token: sessionToken }) };
};

export const destinationOf = (draft: DestinationDraft): NewDestination => {
  const display_name = draft.name;
  if (draft.type === 'file') return { destination_type: 'file', display_name, config: { path: draft.path } };
  const credentials = credentialsOf(draft);
  return {
    destination_type: 's3',
    display_name,
    config: {
      bucket_name: draft.bucket,
      ...filled({ prefix: draft.prefix, region: draft.region, endpoint_url: draft.endpoint }),
    },
    ...(credentials && { credentials }),
    ...filled({ aws_role_arn: draft.role }),
  };
};
