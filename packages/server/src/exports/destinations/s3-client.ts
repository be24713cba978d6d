// Creates the S3 client. All options are set explicitly; otherwise the client reads them from the environment of the server.
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { EgressGuard } from '../../net/guard.ts';
import { guardedAgents } from '../../net/guarded-agent.ts';
import { roleCredentials } from './assumed-role.ts';
import { DestinationError } from './destination-error.ts';
import { egressRules } from './egress-rules.ts';
import { limitAnswers } from './answer-limit.ts';
import type { S3Limits } from './s3-limits.ts';
import { findReason } from './s3-reasons.ts';
import type { BucketAddress } from './bucket-address.ts';
import type { S3Target } from './store-target.ts';

const socketsMax = 8;

export interface S3ClientOptions {
  guard: EgressGuard;
  /** True when the server's own credentials may be used, for the bucket or to assume a role. */
  lendsCredentials: boolean;
  limits: S3Limits;
}

export const createS3Client = (
  target: S3Target,
  address: BucketAddress,
  clientOptions: S3ClientOptions,
): S3Client => {
  const { config_kwargs_s3: options = {} } = target.config;
  const { guard, limits } = clientOptions;
  const requestHandler = {
    ...guardedAgents(guard, egressRules, { keepAlive: true, maxSockets: socketsMax }),
    connectionTimeout: limits.connectMs,
    socketTimeout: limits.idleMs,
  };
  const client = new S3Client({
    ...credentialsOf(target, address, clientOptions),
    region: address.region,
    ...(address.endpoint ? { endpoint: address.endpoint.href } : {}),
    bucketEndpoint: address.isBucketEndpoint,
    forcePathStyle: address.isPathStyle,
    useAccelerateEndpoint: options.use_accelerate_endpoint ?? false,
    useGlobalEndpoint: options.us_east_1_regional_endpoint === 'legacy',
    // Several S3 services do not support the checksums that the client sends to AWS by default.
    requestChecksumCalculation: address.isAws ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    responseChecksumValidation: address.isAws ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    followRegionRedirects: false,
    expectContinueHeader: false,
    maxAttempts: limits.tries,
    retryMode: 'standard',
    requestHandler,
  });
  limitAnswers(client);
  if (options.payload_signing_enabled === false) leavePayloadUnsigned(client);
  return client;
};

const credentialsOf = (
  target: S3Target,
  address: BucketAddress,
  { guard, limits, lendsCredentials }: S3ClientOptions,
): Pick<S3ClientConfig, 'credentials'> => {
  if (target.credentials !== null) {
    const { access_key_id, secret_access_key, session_token } = target.credentials;
    const sessionToken = session_token === undefined ? {} : { sessionToken: session_token };
    return {
      credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key, ...sessionToken },
    };
  }
  if (!lendsCredentials) {
    const code = 'NoCredentials';
    throw new DestinationError(findReason(code, undefined).reason, { code, isFinal: true });
  }
  if (target.aws_role_arn === null) {
    // The endpoint is chosen by a user, and would receive the session token of the server in clear.
    if (address.endpoint && !address.isAws && !guard.isAllowed(address.endpoint)) {
      const code = 'CredentialsNotLent';
      throw new DestinationError(findReason(code, undefined).reason, { code, isFinal: true });
    }
    return {};
  }
  return {
    credentials: roleCredentials(target.aws_role_arn, target, { guard, limits, region: address.region }),
  };
};

/** Only over TLS, which protects the integrity of the payload. */
const leavePayloadUnsigned = (client: S3Client): void =>
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { protocol: string; headers: Record<string, string> };
      if (request.protocol === 'https:') request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      return next(args);
    },
    { step: 'build', name: 'leavePayloadUnsigned' },
  );
