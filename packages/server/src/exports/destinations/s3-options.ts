// What uploads carry beside their bytes.
import type { StorageClass } from '@aws-sdk/client-s3';
import type { S3Config } from '@svc/contract';
import type { S3Place } from './s3-place.ts';

type Given = NonNullable<S3Config['s3_additional_kwargs']>;

export type Checksum = NonNullable<Given['ChecksumAlgorithm']>;

export interface UploadOptions {
  /** Of PutObject and CreateMultipartUpload. */
  start: Omit<Given, 'ChecksumAlgorithm' | 'ExpectedBucketOwner' | 'Metadata' | 'StorageClass'> & {
    /** Services other than AWS have classes of their own. */
    StorageClass?: StorageClass;
  };
  /** Of every request. */
  every: Pick<Given, 'ExpectedBucketOwner'>;
  metadata: Record<string, string>;
  /** AWS wants one for buckets whose objects are locked; others are sent one when they are to have it. */
  checksum: Checksum | undefined;
}

export const uploadOptions = (
  { s3_additional_kwargs: given = {} }: S3Config,
  { isAws }: S3Place,
): UploadOptions => {
  const { ChecksumAlgorithm, ExpectedBucketOwner, Metadata, StorageClass: storageClass, ...start } = given;
  return {
    start: { ...start, ...(storageClass ? { StorageClass: storageClass as StorageClass } : {}) },
    every: ExpectedBucketOwner === undefined ? {} : { ExpectedBucketOwner },
    metadata: Metadata ?? {},
    checksum: ChecksumAlgorithm ?? (isAws ? 'CRC32' : undefined),
  };
};
