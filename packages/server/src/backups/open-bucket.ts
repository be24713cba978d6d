// Opens the bucket of a backup. Its address and credentials are those of the operator, so the egress guard does not apply.
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import type { AwsVariables } from '../config/aws-variables.ts';
import { bucketAddress } from '../s3/bucket-address.ts';
import { Bucket } from '../s3/bucket.ts';
import { createS3Client } from '../s3/s3-client.ts';
import { toDestinationError } from '../s3/s3-error.ts';
import { type S3Limits, usualS3Limits } from '../s3/s3-limits.ts';
import { uploadOptions } from '../s3/put-command.ts';
import { findReason, type Reason } from '../s3/s3-reasons.ts';
import type { BucketPlace } from './backup-place.ts';
import { isOfProxy } from '../s3/service-answer.ts';

export interface BackupLimits extends S3Limits {
  /** Time for which requests are repeated during an outage: a backup cannot continue where it stopped. */
  outageMs: number;
}

const usualLimits: BackupLimits = { ...usualS3Limits, outageMs: 60_000 };

/** Sends no request yet. */
export const openBucket = (
  { bucket, prefix }: BucketPlace,
  { endpoint, region, credentials }: AwsVariables,
  limits = usualLimits,
): Bucket => {
  const config = {
    bucket_name: bucket,
    prefix,
    endpoint_url: endpoint,
    region,
    include_bucket_in_prefix: true,
    s3_additional_kwargs: undefined,
    config_kwargs_s3: undefined,
    aws_role_arn: undefined,
  };
  const address = bucketAddress(config);
  const secrets = Object.values<string>(credentials ?? {});
  const client = createS3Client({ address, credentials, guard: undefined, limits });
  outlastOutages(client, limits.outageMs);
  return new Bucket({
    client,
    address,
    options: uploadOptions(config, address),
    callMs: limits.callMs,
    toError: (error) => toDestinationError(error, secrets, findBucketReason),
  });
};

const region = 'The bucket is in another region. Set AWS_REGION.';
const session = 'The session token is invalid or has expired. Set new credentials.';
const denied =
  'Access denied. A backup needs s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload for the prefix; a restore needs s3:GetObject.';

/** Remedies name variables instead of fields of a destination. */
const reasons = new Map(
  Object.entries({
    AccessDenied: denied,
    NoSuchBucket: 'The bucket does not exist. Check its name, and AWS_ENDPOINT_URL_S3.',
    SignatureDoesNotMatch:
      'The signature does not match. Check AWS_SECRET_ACCESS_KEY, and that no proxy changes the host or the path of requests.',
    InvalidAccessKeyId:
      'The service does not know AWS_ACCESS_KEY_ID. Check that it is correct and was not revoked.',
    CredentialsProviderError: 'There are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    ExpiredToken: session,
    ExpiredTokenException: session,
    InvalidToken: session,
    PermanentRedirect: region,
    AuthorizationHeaderMalformed: region,
    IllegalLocationConstraintException: region,
    NoSuchKey: 'The object does not exist.',
    ENOTFOUND: 'The host of the endpoint does not exist in DNS. Check AWS_ENDPOINT_URL_S3 and AWS_REGION.',
    EPROTO:
      'The TLS handshake with the endpoint failed. Check the scheme and the port of AWS_ENDPOINT_URL_S3.',
    MethodNotAllowed:
      'The endpoint does not accept files. Check that AWS_ENDPOINT_URL_S3 is the address of the S3 API.',
    AnswerTooLong:
      'The response of the endpoint is too long for S3. Check that AWS_ENDPOINT_URL_S3 is the address of the S3 API.',
    QuotaExceeded: 'The quota of the bucket is exceeded. Delete old backups, or raise the quota.',
    KeyTooLongError: 'The prefix is too long.',
    PreconditionFailed: 'The object was replaced while it was read.',
    NotImplemented: 'The service does not support a feature of the request.',
    InvalidRequest: 'The service rejects the request as invalid.',
    InvalidArgument: 'The service rejects the request as invalid.',
  }),
);

const findBucketReason = (code: string, status: number | undefined): Reason => {
  const found = findReason(code, status);
  return { ...found, reason: reasons.get(code) ?? found.reason };
};

// Repeats requests during an outage of the service or the network, after the client has given up: its own attempts end within seconds.

const pauseMs = 500;
const pauseMsMax = 5_000;

interface RequestError extends Error {
  code?: unknown;
  $metadata?: { httpStatusCode?: number };
}

const networkCodes = new Set<unknown>([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // The name was resolved before: an outage of DNS.
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * A request is repeated for `ms`. An abort ends it at its next attempt. Until a request has succeeded none is repeated: the address may be
 * wrong.
 */
const outlastOutages = (client: S3Client, ms: number): void => {
  let hasSucceeded = false;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const until = performance.now() + ms;
        for (let round = 0; ; round++) {
          const pause = Math.min(pauseMs * 2 ** round, pauseMsMax);
          try {
            const result = await next(args);
            hasSucceeded = true;
            const { $metadata } = result.output;
            // The sum tells the caller that an earlier attempt may have been carried out.
            $metadata.attempts = ($metadata.attempts ?? 1) + round;
            return result;
          } catch (error) {
            if (
              !hasSucceeded ||
              !isOutage(error as RequestError, commandName) ||
              performance.now() + pause > until
            )
              throw error;
          }
          await sleep(pause);
        }
      },
    { step: 'initialize', name: 'outlastOutages' },
  );
};

const isOutage = (error: RequestError, command: string | undefined): boolean => {
  const { name, code, $metadata } = error;
  const status = $metadata?.httpStatusCode;
  if (isOfProxy(error)) return command !== 'HeadObjectCommand';
  if (status !== undefined) return status >= 500 && status !== 501;
  return name === 'TimeoutError' || networkCodes.has(code);
};
