// Opens the bucket of a backup. Its address and credentials are those of the operator, so the egress guard does not apply.
import type { AwsVariables } from '../config/aws-variables.ts';
import { bucketAddress } from '../s3/bucket-address.ts';
import { Bucket } from '../s3/bucket.ts';
import { outlastOutages } from '../s3/outage.ts';
import { createS3Client } from '../s3/s3-client.ts';
import { toDestinationError } from '../s3/s3-error.ts';
import { usualS3Limits, type S3Limits } from '../s3/s3-limits.ts';
import { uploadOptions } from '../s3/s3-options.ts';
import type { BucketPlace } from './backup-place.ts';
import { findBucketReason } from './bucket-reasons.ts';

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
