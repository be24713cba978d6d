// Parses the method, path and query of an S3 request with path-style addressing (host/bucket/key).
import type { IncomingMessage } from 'node:http';

export type S3Operation =
  | 'PutObject'
  | 'GetObject'
  | 'HeadObject'
  | 'DeleteObject'
  | 'CreateMultipartUpload'
  | 'UploadPart'
  | 'ListParts'
  | 'CompleteMultipartUpload'
  | 'AbortMultipartUpload'
  | 'ListBucket'
  | 'DeleteObjects'
  | 'ListMultipartUploads'
  | 'HeadBucket'
  | 'Other';

export interface S3Request {
  readonly method: string;
  readonly operation: S3Operation;
  readonly bucket: string;
  /** Empty when the request is for the bucket. */
  readonly key: string;
  readonly uploadId: string | undefined;
  readonly partNumber: number | undefined;
}

export const readS3Request = ({ method = '', url = '/' }: IncomingMessage): S3Request => {
  const { pathname, searchParams } = new URL(url, 'http://gateway');
  const [, bucket = '', ...key] = pathname.split('/').map(decodeURIComponent);
  const target = { method, bucket, key: key.join('/') };
  const partNumber = searchParams.get('partNumber');
  return {
    ...target,
    operation: target.key ? objectOperation(method, searchParams) : bucketOperation(method, searchParams),
    uploadId: searchParams.get('uploadId') ?? undefined,
    partNumber: partNumber === null ? undefined : Number(partNumber),
  };
};

const objectOperation = (method: string, query: URLSearchParams): S3Operation => {
  const ofUpload = query.has('uploadId');
  if (method === 'POST' && query.has('uploads')) return 'CreateMultipartUpload';
  if (method === 'POST' && ofUpload) return 'CompleteMultipartUpload';
  if (method === 'PUT') return ofUpload ? 'UploadPart' : 'PutObject';
  if (method === 'GET') return ofUpload ? 'ListParts' : 'GetObject';
  if (method === 'HEAD') return 'HeadObject';
  if (method === 'DELETE') return ofUpload ? 'AbortMultipartUpload' : 'DeleteObject';
  return 'Other';
};

const bucketOperation = (method: string, query: URLSearchParams): S3Operation => {
  if (method === 'GET') return query.has('uploads') ? 'ListMultipartUploads' : 'ListBucket';
  if (method === 'POST' && query.has('delete')) return 'DeleteObjects';
  return method === 'HEAD' ? 'HeadBucket' : 'Other';
};
