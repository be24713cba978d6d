// Credentials of a role of AWS, lent for an hour at a time.
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import type { EgressGuard } from '../../net/guard.ts';
import { guardedAgents } from '../../net/guarded-agent.ts';
import { limitAnswers } from './answer-limit.ts';
import { DestinationError } from './destination-error.ts';
import type { S3Limits } from './s3-limits.ts';
import { toDestinationError } from './s3-error.ts';
import { findReason } from './s3-reasons.ts';

const seconds = 3_600;

interface LentCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string;
  expiration: Date;
}

/**
 * Asks whenever the client finds that the last ones are about to expire. The id of the workspace is sent as external id, so
 * that the owner of a role can say which workspace may use it, and not only which server.
 */
export const roleCredentials =
  (
    role_arn: string,
    { tenant_id, id }: { tenant_id: string; id: string },
    { guard, limits, region }: { guard: EgressGuard; limits: S3Limits; region: string },
  ) =>
  async (): Promise<LentCredentials> => {
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
      const { Credentials: lent } = await client.send(
        new AssumeRoleCommand({
          RoleArn: role_arn,
          RoleSessionName: `svc-export-${id}`,
          ExternalId: tenant_id,
          DurationSeconds: seconds,
        }),
      );
      const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = lent ?? {};
      if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration)
        throw new DestinationError('The service that lends roles has answered without credentials.', {
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
