// Destinations of exports: a bucket of any S3-compatible service, or a folder of the server.
import * as z from 'zod';
import { Id, nullish, Time } from '../json.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Export destinations');

/** Text that is valid in a header. */
const printable = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

/** Leaves room for what exports add: a key has at most 1,024 bytes. */
const prefixBytesMax = 800;
const isPlainPath = (path: string): boolean => {
  const parts = path.replace(/^\/+|\/+$/g, '').split('/');
  return path === '' || parts.every((part) => part !== '' && part !== '.' && part !== '..');
};
const plainPath = 'must not have empty parts (//), nor the parts . or ..';
const isPlainText = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text);
const plainText = 'must not have control characters';
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** The service decides which of these names it allows: those of AWS are a part of them. */
const isBucketName = (name: string): boolean => /^[\w-][\w.-]*$/.test(name) && !name.includes('..');

/** Sent with every upload. Other options are refused. */
const UploadOptions = z
  .strictObject({
    ServerSideEncryption: z.enum(['AES256', 'aws:kms', 'aws:kms:dsse']).optional(),
    SSEKMSKeyId: printable(2_048).optional(),
    SSEKMSEncryptionContext: printable(8_192).optional(),
    BucketKeyEnabled: z.boolean().optional(),
    StorageClass: z
      .string()
      .regex(/^[A-Z][A-Z0-9_-]{0,63}$/, 'must be the name of a storage class')
      .optional(),
    ACL: z
      .enum([
        'private',
        'public-read',
        'public-read-write',
        'authenticated-read',
        'aws-exec-read',
        'bucket-owner-read',
        'bucket-owner-full-control',
      ])
      .optional(),
    Tagging: printable(2_048).optional(),
    ChecksumAlgorithm: z.enum(['CRC32', 'CRC32C', 'SHA1', 'SHA256']).optional(),
    ExpectedBucketOwner: printable(64).optional(),
    Metadata: z
      .record(
        z.string().regex(/^(?!sha256$)[a-z0-9_-]{1,128}$/, 'must be a name in lower case other than sha256'),
        z
          .string()
          .max(1_024)
          .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
      )
      .optional(),
  })
  .meta({ id: 'UploadOptions', description: 'Options of every PutObject and CreateMultipartUpload' });

const ClientOptions = z
  .strictObject({
    addressing_style: z.enum(['auto', 'virtual', 'path']).optional(),
    use_accelerate_endpoint: z.boolean().optional(),
    payload_signing_enabled: z.boolean().optional(),
    us_east_1_regional_endpoint: z.enum(['regional', 'legacy']).optional(),
  })
  .meta({ id: 'ClientOptions', description: 'How the S3 client addresses and signs' });

const RoleArn = nullish(
  z
    .string()
    .max(2_048)
    .regex(/^arn:aws[a-z-]*:iam::\d*:role\/[\w+=,.@/-]+$/, 'must be the ARN of a role'),
).describe('A role that is assumed instead of using credentials; a request has one of them');

export const S3Config = z
  .strictObject({
    bucket_name: z
      .string()
      .max(255)
      .refine(isBucketName, 'must be letters, digits, dots, hyphens and underscores')
      .describe('As the service names buckets'),
    prefix: nullish(
      z
        .string()
        .max(1_024)
        .refine(isPlainText, plainText)
        .refine(isPlainPath, plainPath)
        .refine((prefix) => bytesOf(prefix) <= prefixBytesMax, `must be at most ${prefixBytesMax} bytes`),
    ).describe('Prefix of every key; slashes around it are ignored'),
    endpoint_url: nullish(z.string().max(2_048)).describe('Of a service other than AWS'),
    region: nullish(z.string().regex(/^[A-Za-z0-9-]{1,63}$/, 'must be letters, digits and hyphens')),
    include_bucket_in_prefix: nullish(z.boolean()).describe(
      'False when the host of `endpoint_url` names the bucket; found out when absent',
    ),
    s3_additional_kwargs: nullish(UploadOptions),
    config_kwargs_s3: nullish(ClientOptions),
    aws_role_arn: RoleArn,
  })
  .meta({ id: 'S3Config' });
export type S3Config = z.output<typeof S3Config>;

export const FileConfig = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .max(1_024)
      .refine(isPlainText, plainText)
      .refine(isPlainPath, plainPath)
      .describe(
        'Below one of `SVC_EXPORT_FILE_ROOTS`; one that does not begin with a slash is below the first',
      ),
  })
  .meta({ id: 'FileConfig' });
export type FileConfig = z.output<typeof FileConfig>;

export const S3Credentials = z
  .strictObject({
    access_key_id: printable(255),
    secret_access_key: printable(2_048),
    session_token: nullish(printable(8_192)),
  })
  .meta({ id: 'S3Credentials', description: 'Stored encrypted, and never returned' });
export type S3Credentials = z.output<typeof S3Credentials>;

const DisplayName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[a-zA-Z0-9\-_ ']+$/, "may have letters, digits, spaces and - _ '");

const S3DestinationCreate = z.strictObject({
  destination_type: z.literal('s3').default('s3'),
  display_name: DisplayName,
  config: S3Config,
  credentials: nullish(S3Credentials).describe('The credentials of the server when absent'),
  aws_role_arn: RoleArn,
});

const FileDestinationCreate = z.strictObject({
  destination_type: z.literal('file'),
  display_name: DisplayName,
  config: FileConfig,
});

export const DestinationCreate = z
  .preprocess(
    (body) =>
      typeof body === 'object' && body !== null && !('destination_type' in body)
        ? { ...body, destination_type: 's3' }
        : body,
    z.discriminatedUnion('destination_type', [S3DestinationCreate, FileDestinationCreate]),
  )
  .meta({ id: 'DestinationCreate' });
export type DestinationCreate = z.output<typeof DestinationCreate>;
/** The input type, which the preprocessed schema does not have. */
export type NewDestination = z.input<typeof S3DestinationCreate> | z.input<typeof FileDestinationCreate>;

export const Destination = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    destination_type: z.enum(['s3', 'file']),
    display_name: z.string(),
    config: z.record(z.string(), z.unknown()).describe('The configuration without secrets'),
    credentials_keys: z.array(z.string()).describe('Names of the credentials that are stored'),
    created_at: Time,
    updated_at: Time,
  })
  .meta({ id: 'Destination' });
export type Destination = z.output<typeof Destination>;

export const ProbeStep = z
  .object({
    name: z.enum(['address', 'assume_role', 'put', 'head', 'put_if_none_match', 'delete']),
    ok: z.boolean(),
    required: z.boolean().describe('Whether exports need this step'),
    code: z.string().nullable().describe('The error code of the service'),
    message: z.string().nullable(),
  })
  .meta({ id: 'ProbeStep' });
export type ProbeStep = z.output<typeof ProbeStep>;

export const Probe = z
  .object({ ok: z.boolean(), steps: z.array(ProbeStep), notes: z.array(z.string()) })
  .meta({ id: 'Probe', description: 'The outcome of writing a test file' });
export type Probe = z.output<typeof Probe>;

const params = z.object({ destination_id: Id });
const path = '/api/v1/bulk-exports/destinations';

export const destinationRoutes = {
  createDestination: route('post', path, {
    audited: 'destination.create',
    summary: 'Create a destination after writing a test file to it',
    access: { permission: 'admin' },
    body: DestinationCreate,
    response: Destination,
    errors: ['bad_request'],
  }),
  listDestinations: route('get', path, {
    summary: 'The destinations of the workspace, newest first',
    access: { permission: 'read' },
    response: z.array(Destination),
  }),
  getDestination: route('get', `${path}/:destination_id`, {
    summary: 'Get a destination',
    access: { permission: 'read' },
    params,
    response: Destination,
    errors: ['not_found'],
  }),
  changeDestination: route('patch', `${path}/:destination_id`, {
    audited: 'destination.change',
    summary: 'Replace the credentials of a destination after writing a test file with them',
    description: 'The body has one of `credentials` and `aws_role_arn`, and neither for a folder.',
    access: { permission: 'admin' },
    params,
    body: z.strictObject({ credentials: nullish(S3Credentials), aws_role_arn: RoleArn }),
    response: Destination,
    errors: ['not_found', 'bad_request'],
  }),
  deleteDestination: route('delete', `${path}/:destination_id`, {
    audited: 'destination.delete',
    summary: 'Delete a destination that no export refers to',
    access: { permission: 'admin' },
    params,
    response: Destination,
    errors: ['not_found', 'conflict'],
  }),
  testDestination: route('post', `${path}/:destination_id/test`, {
    summary: 'Write a test file as exports do, and return the outcome of each step',
    access: { permission: 'admin' },
    params,
    response: Probe,
    errors: ['not_found'],
  }),
};
