// An object that is uploaded in one request.
import { createHash } from 'node:crypto';
import { PutObjectCommand, type StorageClass } from '@aws-sdk/client-s3';
import type { S3Config } from '@svc/contract';
import type { BucketAddress } from './bucket-address.ts';

export interface SingleUpload {
  /** The key with the prefix. */
  name: string;
  body: Buffer;
  /** Stored with the object. */
  metadata: Record<string, string>;
  contentType: string;
  /** Adds `If-None-Match: *`. */
  ifAbsent: boolean;
}

export const putCommand = (
  bucket: string,
  { start, every, metadata: usual, checksum }: UploadOptions,
  { name, body, metadata, contentType, ifAbsent }: SingleUpload,
): PutObjectCommand =>
  new PutObjectCommand({
    Bucket: bucket,
    Key: name,
    Body: body,
    ContentLength: body.length,
    ContentType: contentType,
    ...start,
    ...every,
    Metadata: { ...usual, ...metadata },
    ...(checksum ? { ChecksumAlgorithm: checksum } : { ContentMD5: md5(body) }),
    ...(ifAbsent ? { IfNoneMatch: '*' } : {}),
  });

/** The checksum of Content-MD5, which every S3 service supports. */
export const md5 = (body: Buffer): string => createHash('md5').update(body).digest('base64');

// Options of uploads: headers, metadata and checksums.

type Given = NonNullable<S3Config['s3_additional_kwargs']>;

type Checksum = NonNullable<Given['ChecksumAlgorithm']>;

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
