// Options of uploads: headers, metadata and checksums.
import type { StorageClass } from '@aws-sdk/client-s3';
import type { S3Config } from '@svc/contract';
import type { BucketAddress } from './bucket-address.ts';

type Given = NonNullable<S3Config['s3_additional_kwargs']>;

export type Checksum = NonNullable<Given['ChecksumAlgorithm']>;

export interface UploadOptions {
  /** Parameters of PutObject and CreateMultipartUpload. */
  start: Omit<Given, 'ChecksumAlgorithm' | 'ExpectedBucketOwner' | 'Metadata' | 'StorageClass'> & {
    /** May be a class that AWS does not have. */
    StorageClass?: StorageClass;
  };
  /** Parameters of every request. */
  every: Pick<Given, 'ExpectedBucketOwner'>;
  metadata: Record<string, string>;
  /** AWS requires a checksum for buckets with Object Lock. Other services get one only when the destination configures it. */
  checksum: Checksum | undefined;
}

export const uploadOptions = (
  { s3_additional_kwargs: given = {} }: S3Config,
  { isAws }: BucketAddress,
): UploadOptions => {
  const { ChecksumAlgorithm, ExpectedBucketOwner, Metadata, StorageClass: storageClass, ...start } = given;
  return {
    start: { ...start, ...(storageClass ? { StorageClass: storageClass as StorageClass } : {}) },
    every: ExpectedBucketOwner === undefined ? {} : { ExpectedBucketOwner },
    metadata: Metadata ?? {},
    checksum: ChecksumAlgorithm ?? (isAws ? 'CRC32' : undefined),
  };
};
