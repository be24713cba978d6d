// Destinations in the S3 of a test run.
import type { S3Config } from '@svc/contract';
import { EgressGuard } from '../../src/net/guard.ts';
import { parseHostList } from '../../src/net/host-list.ts';
import { usualS3Limits, type S3Limits } from '../../src/s3/s3-limits.ts';
import { S3Store } from '../../src/exports/destinations/s3-store.ts';
import type { S3Target } from '../../src/exports/destinations/store-target.ts';
import type { Keys } from '../s3/ceph.ts';

export interface S3Parts {
  endpoint: string;
  keys: Keys;
  bucket: string;
}

export const s3Target = ({ endpoint, keys, bucket }: S3Parts, config: Partial<S3Config> = {}): S3Target => ({
  destination_type: 's3',
  tenant_id: '00000000-0000-4000-8000-000000000001',
  id: '00000000-0000-4000-8000-000000000002',
  config: {
    bucket_name: bucket,
    prefix: 'some/prefix',
    endpoint_url: endpoint,
    region: undefined,
    include_bucket_in_prefix: undefined,
    s3_additional_kwargs: undefined,
    config_kwargs_s3: undefined,
    aws_role_arn: undefined,
    ...config,
  },
  credentials: {
    access_key_id: keys.accessKeyId,
    secret_access_key: keys.secretAccessKey,
    session_token: undefined,
  },
  aws_role_arn: null,
  abilities: { can_head: true, can_delete: true, can_put_if_none_match: true },
});

/** A guard that allows these endpoints only. */
export const guardFor = (...endpoints: string[]): EgressGuard =>
  new EgressGuard(parseHostList(endpoints.map((endpoint) => new URL(endpoint).host).join(',')) ?? []);

export const openS3 = (target: S3Target, limits: Partial<S3Limits> = {}): S3Store =>
  new S3Store(target, {
    guard: guardFor(target.config.endpoint_url ?? ''),
    lendsCredentials: false,
    limits: { ...usualS3Limits, ...limits },
  });
