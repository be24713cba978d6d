// Temporary credentials of an assumed AWS role, valid for one hour.
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import type { EgressGuard } from '../../net/guard.ts';
import { guardedAgents } from '../../net/guarded-agent.ts';
import { limitAnswers } from '../../s3/answer-limit.ts';
import { DestinationError } from '../../s3/destination-error.ts';
import type { S3Limits } from '../../s3/s3-limits.ts';
import { toDestinationError } from '../../s3/s3-error.ts';
import { findReason } from '../../s3/s3-reasons.ts';

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
export const roleCredentials =
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
