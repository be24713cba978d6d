// Creates the S3 client. All options except credentials are set explicitly; otherwise the client reads them from the environment of the server.
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { S3Config } from '@svc/contract';
import type { EgressGuard } from '../net/guard.ts';
import { guardedAgents } from '../net/guarded-agent.ts';
import { limitAnswers } from './answer-limit.ts';
import type { BucketAddress } from './bucket-address.ts';
import { egressRules, type S3Limits } from './s3-limits.ts';

const socketsMax = 8;

export interface S3ClientParts {
  address: BucketAddress;
  /** Undefined: the credentials that the library finds in the environment of the process. */
  credentials: S3ClientConfig['credentials'] | undefined;
  /** Undefined: all addresses are allowed, because the operator has chosen the endpoint. */
  guard: EgressGuard | undefined;
  limits: S3Limits;
  options?: S3Config['config_kwargs_s3'] | undefined;
}

export const createS3Client = (parts: S3ClientParts): S3Client => {
  const { address, credentials, guard, limits, options = {} } = parts;
  const requestHandler = {
    ...(guard ? guardedAgents(guard, egressRules, { keepAlive: true, maxSockets: socketsMax }) : {}),
    connectionTimeout: limits.connectMs,
    socketTimeout: limits.idleMs,
  };
  const client = new S3Client({
    ...(credentials === undefined ? {} : { credentials }),
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
