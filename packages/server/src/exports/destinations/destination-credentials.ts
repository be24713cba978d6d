// The credentials with which the bucket of a destination is used.
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import type { EgressGuard } from '../../net/guard.ts';
import { guardedAgents } from '../../net/guarded-agent.ts';
import { limitAnswers } from '../../s3/answer-limit.ts';
import type { BucketAddress } from '../../s3/bucket-address.ts';
import { DestinationError } from '../../s3/destination-error.ts';
import { toDestinationError } from '../../s3/s3-error.ts';
import type { S3Limits } from '../../s3/s3-limits.ts';
import { findReason } from '../../s3/s3-reasons.ts';
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

/** How long the credentials of an assumed AWS role are valid. */
const seconds = 3_600;

interface TemporaryCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration: Date;
}

/**
 * The S3 client calls this again shortly before the credentials expire. The id of the workspace is sent as external id, so the trust
 * policy of the role can restrict it to one workspace of this server.
 */
const roleCredentials =
  (
    role_arn: string,
    { tenant_id, id }: { tenant_id: string; id: string },
    { guard, limits, region }: { guard: EgressGuard; limits: S3Limits; region: string },
  ) =>
  async (): Promise<TemporaryCredentials> => {
    const client = new STSClient({
      region,
      maxAttempts: limits.tries,
      requestHandler: {
        ...guardedAgents(guard, { httpsUnlessAllowed: true }),
        connectionTimeout: limits.connectMs,
        socketTimeout: limits.idleMs,
      },
    });
    limitAnswers(client);
    try {
      const { Credentials: issued } = await client.send(
        new AssumeRoleCommand({
          RoleArn: role_arn,
          RoleSessionName: `svc-export-${id}`,
          ExternalId: tenant_id,
          DurationSeconds: seconds,
        }),
      );
      const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = issued ?? {};
      if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration)
        throw new DestinationError('The response to AssumeRole contains no credentials.', {
          code: 'InvalidAnswer',
          isFinal: false,
        });
      return {
        accessKeyId: AccessKeyId,
        secretAccessKey: SecretAccessKey,
        sessionToken: SessionToken,
        expiration: Expiration,
      };
    } catch (error) {
      throw roleError(toDestinationError(error));
    } finally {
      client.destroy();
    }
  };

const roleError = (error: DestinationError): DestinationError =>
  error.code === 'AccessDenied'
    ? new DestinationError(findReason('RoleAccessDenied', undefined).reason, {
        code: error.code,
        isFinal: true,
        cause: error.cause,
      })
    : error;
