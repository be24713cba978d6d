// An object that is uploaded in one request.
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { md5 } from './md5.ts';
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
