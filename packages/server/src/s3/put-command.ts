// An object that is uploaded in one request.
import { createHash } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import type { UploadOptions } from './s3-options.ts';

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
