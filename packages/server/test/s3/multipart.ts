// The steps of a multipart upload, so that a test can stop between them.
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';

export interface UploadTarget {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
}

export interface Upload extends UploadTarget {
  readonly uploadId: string;
}

/** The minimum size of every part but the last. */
export const minPartBytes = 5 * 1024 * 1024;

/** Starts an upload and returns its id. */
export const startUpload = async ({ client, bucket, key }: UploadTarget): Promise<string> => {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: key }));
  if (!UploadId) throw new Error('An upload without an id');
  return UploadId;
};

/** Uploads the parts in turn, numbered from 1. */
export const putParts = async (
  { client, bucket, key, uploadId }: Upload,
  parts: readonly Uint8Array[],
): Promise<CompletedPart[]> => {
  const done: CompletedPart[] = [];
  for (const [index, Body] of parts.entries()) {
    const PartNumber = index + 1;
    const { ETag } = await client.send(
      new UploadPartCommand({ Bucket: bucket, Key: key, UploadId: uploadId, PartNumber, Body }),
    );
    done.push({ PartNumber, ETag });
  }
  return done;
};

export const completeUpload = async (
  { client, bucket, key, uploadId }: Upload,
  parts: CompletedPart[],
): Promise<void> => {
  await client.send(
    new CompleteMultipartUploadCommand({
      Bucket: bucket,
      Key: key,
      UploadId: uploadId,
      MultipartUpload: { Parts: parts },
    }),
  );
};
