// The credentials with which the bucket of a destination is used.
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { EgressGuard } from '../../net/guard.ts';
import type { BucketAddress } from '../../s3/bucket-address.ts';
import { DestinationError } from '../../s3/destination-error.ts';
import type { S3Limits } from '../../s3/s3-limits.ts';
import { findReason } from '../../s3/s3-reasons.ts';
import { roleCredentials } from './assumed-role.ts';
import type { S3Target } from './store-target.ts';

export interface CredentialRules {
  guard: EgressGuard;
  /** True when the server's own credentials may be used, for the bucket or to assume a role. */
  lendsCredentials: boolean;
  limits: S3Limits;
}

/** Undefined: the server's own credentials. Throws a DestinationError when the destination may not use them. */
export const credentialsOf = (
  target: S3Target,
  address: BucketAddress,
  { guard, limits, lendsCredentials }: CredentialRules,
): S3ClientConfig['credentials'] | undefined => {
  if (target.credentials !== null) {
    const { access_key_id, secret_access_key, session_token } = target.credentials;
    const sessionToken = session_token === undefined ? {} : { sessionToken: session_token };
    return { accessKeyId: access_key_id, secretAccessKey: secret_access_key, ...sessionToken };
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
    return undefined;
  }
  return roleCredentials(target.aws_role_arn, target, { guard, limits, region: address.region });
};
