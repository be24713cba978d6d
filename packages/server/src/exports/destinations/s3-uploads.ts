// Multipart uploads. S3 stores and charges for the parts of an upload until it is completed or aborted. An upload that is not completed is
// therefore aborted, and its parts are listed afterwards to make sure that none remains.
import type { FileHandle } from 'node:fs/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { onAbort } from '../../abort.ts';
import { withDeadline } from './deadline.ts';
import { DestinationError, StoreConflict } from './destination-error.ts';
import { md5 } from './md5.ts';
import { isConflict, toDestinationError } from './s3-error.ts';
import type { UploadOptions } from './s3-options.ts';

const mb = 1_024 ** 2;
const partBytesMin = 8 * mb;
/** The limit of S3 is 10,000 parts. */
const partsMax = 9_000;
/** Parts that are uploaded concurrently. Each is held in memory meanwhile. */
const inFlightMax = 3;
/** Time limit for aborting an upload that has failed. */
const cleanupMs = 20_000;
/** After an abort, time to wait for the response to CreateMultipartUpload: without its id the upload cannot be aborted. */
const startGraceMs = 3_000;
const abortTries = 3;

export interface Upload {
  /** The key with the prefix of the destination. */
  name: string;
  source: FileHandle;
  bytes: number;
  sha256: string;
  contentType: string;
  /** Completes with `If-None-Match: *`. */
  ifAbsent: boolean;
  /** Called between the last part and the completion. If it throws, the upload is aborted. */
  beforeEnd?(): Promise<void>;
}

/** Size of a part in bytes, a multiple of 1 MB, with which the file has at most `partsMax` parts. */
export const partBytesOf = (bytes: number): number =>
  Math.max(partBytesMin, Math.ceil(bytes / partsMax / mb) * mb);

export class S3Uploads {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #options: UploadOptions;
  readonly #callMs: number;
  readonly #secrets: readonly string[];

  constructor(parts: {
    client: S3Client;
    bucket: string;
    options: UploadOptions;
    callMs: number;
    /** Removed from the messages of the service. */
    secrets: readonly string[];
  }) {
    this.#client = parts.client;
    this.#bucket = parts.bucket;
    this.#options = parts.options;
    this.#callMs = parts.callMs;
    this.#secrets = parts.secrets;
  }

  /**
   * Returns false when the service reports that the upload does not exist. It also reports that for an upload that an earlier, repeated
   * request has completed.
   */
  async send(upload: Upload, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const UploadId = await this.#start(upload, signal);
    try {
      signal.throwIfAborted();
      const parts = await this.#sendParts(upload, UploadId, signal);
      await upload.beforeEnd?.();
      return await this.#complete(upload, UploadId, parts, signal);
    } catch (error) {
      await this.#tryAbort(upload.name, UploadId);
      signal.throwIfAborted();
      throw error instanceof StoreConflict ? error : toDestinationError(error, this.#secrets);
    }
  }

  /** Aborts all unfinished uploads of a key except `keep`. Throws the error of the service when listing is not permitted. */
  async abortAll(name: string, signal: AbortSignal, keep?: string): Promise<void> {
    const list = new ListMultipartUploadsCommand({ ...this.#every(), Prefix: name });
    const { Uploads = [] } = await this.#client.send(list, { abortSignal: signal });
    for (const { Key, UploadId } of Uploads)
      if (Key === name && UploadId !== undefined && UploadId !== keep)
        await this.#abort(name, UploadId, signal);
  }

  async #start(upload: Upload, signal: AbortSignal): Promise<string> {
    const { start, metadata, checksum } = this.#options;
    const command = new CreateMultipartUploadCommand({
      ...this.#every(),
      Key: upload.name,
      ContentType: upload.contentType,
      ...start,
      Metadata: { ...metadata, sha256: upload.sha256 },
      ...(checksum ? { ChecksumAlgorithm: checksum } : {}),
    });
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const stopWaiting = onAbort(signal, () => {
      timer = setTimeout(() => controller.abort(signal.reason), startGraceMs);
    });
    try {
      return await withDeadline(controller.signal, this.#callMs, async (abortSignal) => {
        const { UploadId, $metadata } = await this.#client.send(command, { abortSignal });
        if (UploadId === undefined) throw new Error('The response to CreateMultipartUpload has no UploadId');
        // A repeated request may have started two uploads.
        if (($metadata.attempts ?? 1) > 1) await this.#tryAbortAll(upload.name, UploadId);
        return UploadId;
      });
    } catch (error) {
      await this.#tryAbortAll(upload.name);
      signal.throwIfAborted();
      throw toDestinationError(error, this.#secrets);
    } finally {
      clearTimeout(timer);
      stopWaiting();
    }
  }

  /** Resolves or rejects only when no request is running any more. */
  async #sendParts(upload: Upload, UploadId: string, signal: AbortSignal): Promise<CompletedPart[]> {
    const partBytes = partBytesOf(upload.bytes);
    const count = Math.ceil(upload.bytes / partBytes);
    const parts: CompletedPart[] = [];
    const failed = new AbortController();
    let next = 0;
    const sendNextParts = async (): Promise<void> => {
      while (next < count) {
        const index = next++;
        const start = index * partBytes;
        signal.throwIfAborted();
        failed.signal.throwIfAborted();
        const body = await readSlice(upload.source, start, Math.min(partBytes, upload.bytes - start));
        parts[index] = await this.#sendPart(upload.name, UploadId, index + 1, body, failed.signal);
      }
    };
    const stopWaiting = onAbort(signal, () => failed.abort(signal.reason));
    try {
      const workers = Array.from({ length: Math.min(inFlightMax, count) }, () =>
        sendNextParts().catch((error: unknown) => {
          failed.abort(error);
          throw error;
        }),
      );
      const ends = await Promise.allSettled(workers);
      if (ends.some(({ status }) => status === 'rejected')) throw failed.signal.reason;
      return parts;
    } finally {
      stopWaiting();
    }
  }

  async #sendPart(
    name: string,
    UploadId: string,
    PartNumber: number,
    body: Buffer,
    signal: AbortSignal,
  ): Promise<CompletedPart> {
    const { checksum } = this.#options;
    const command = new UploadPartCommand({
      ...this.#every(),
      Key: name,
      UploadId,
      PartNumber,
      Body: body,
      ContentLength: body.length,
      ...(checksum ? { ChecksumAlgorithm: checksum } : { ContentMD5: md5(body) }),
    });
    const sent = await withDeadline(signal, this.#callMs, (abortSignal) =>
      this.#client.send(command, { abortSignal }),
    );
    const field = checksum && (`Checksum${checksum}` as const);
    const sum = field && sent[field];
    if (sent.ETag === undefined)
      throw new DestinationError('The response of the service to an uploaded part has no ETag.', {
        code: 'InvalidAnswer',
        isFinal: false,
      });
    return { PartNumber, ETag: sent.ETag, ...(field && sum ? { [field]: sum } : {}) };
  }

  async #complete(
    { name, ifAbsent }: Upload,
    UploadId: string,
    Parts: CompletedPart[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const command = new CompleteMultipartUploadCommand({
      ...this.#every(),
      Key: name,
      UploadId,
      MultipartUpload: { Parts },
      ...(ifAbsent ? { IfNoneMatch: '*' } : {}),
    });
    try {
      const { ETag } = await withDeadline(signal, this.#callMs, (abortSignal) =>
        this.#client.send(command, { abortSignal }),
      );
      // S3 sends the status 200 before it has completed the upload; the body tells the result.
      if (ETag !== undefined) return true;
      throw new DestinationError(
        'The response of the service does not tell whether the upload was completed.',
        {
          code: 'InvalidAnswer',
          isFinal: false,
        },
      );
    } catch (error) {
      if (isGone(error)) return false;
      throw isConflict(error) ? new StoreConflict('The key already has an object') : error;
    }
  }

  #every(): { Bucket: string; ExpectedBucketOwner?: string | undefined } {
    return { Bucket: this.#bucket, ...this.#options.every };
  }

  /** The caller reports the error that made the upload fail; errors of the cleanup are ignored. */
  async #tryAbort(name: string, UploadId: string): Promise<void> {
    await ignoringErrors((signal) => this.#abort(name, UploadId, signal));
  }

  async #tryAbortAll(name: string, keep?: string): Promise<void> {
    await ignoringErrors((signal) => this.abortAll(name, signal, keep));
  }

  /** Aborts again while parts are listed: a part that was being uploaded may be stored after the abort, and would remain. */
  async #abort(name: string, UploadId: string, abortSignal: AbortSignal): Promise<void> {
    const of = { ...this.#every(), Key: name, UploadId };
    try {
      for (let tries = 0; tries < abortTries; tries++) {
        await this.#client.send(new AbortMultipartUploadCommand(of), { abortSignal });
        const { Parts = [] } = await this.#client.send(new ListPartsCommand(of), { abortSignal });
        if (Parts.length === 0) return;
      }
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

/** Some services report NoSuchKey instead of NoSuchUpload. */
const isGone = (error: unknown): boolean => ['NoSuchUpload', 'NoSuchKey'].includes((error as Error).name);

const ignoringErrors = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  try {
    await withDeadline(new AbortController().signal, cleanupMs, work);
  } catch {
    // The credentials may not permit listing or aborting. A lifecycle rule of the bucket must remove the upload then.
  }
};

/** Reads exactly `bytes` bytes; throws when the file is shorter. */
export const readSlice = async (source: FileHandle, start: number, bytes: number): Promise<Buffer> => {
  const slice = Buffer.allocUnsafe(bytes);
  for (let filled = 0; filled < bytes;) {
    const { bytesRead } = await source.read(slice, filled, bytes - filled, start + filled);
    if (bytesRead === 0) throw new Error(`The local file ends at byte ${start + filled}`);
    filled += bytesRead;
  }
  return slice;
};
