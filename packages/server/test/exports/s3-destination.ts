// Destinations in buckets of the test run's S3.
import { DestinationCreate } from '@svc/contract';
import type { Gateway, S3User } from '../s3/gateway.ts';

export const bucketTarget = (
  gateway: Pick<Gateway, 'endpoint' | 'region'> & Partial<Pick<Gateway, 'keys'>>,
  bucket: string,
  {
    user = gateway as Pick<S3User, 'keys'>,
    prefix = 'traces/all',
  }: { user?: Pick<S3User, 'keys'>; prefix?: string } = {},
): DestinationCreate =>
  DestinationCreate.parse({
    destination_type: 's3',
    display_name: 'bucket',
    config: { bucket_name: bucket, prefix, endpoint_url: gateway.endpoint, region: gateway.region },
    credentials: { access_key_id: user.keys.accessKeyId, secret_access_key: user.keys.secretAccessKey },
  });
