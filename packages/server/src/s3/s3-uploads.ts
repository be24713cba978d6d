// Multipart uploads. S3 stores and charges for the parts of an upload until it is completed or aborted. An upload that is not completed is
// therefore aborted, and its parts are listed afterwards to make sure that none remains.
// `@aws-sdk/lib-storage` does not check the file before the completion, resolve a lost response by reading the object, limit the time of
// each call, or list the parts after an abort. One streamed PUT ends at 5 GB, with its checksum in a trailer, which not every service reads.
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
import { onAbort } from '../abort.ts';
import { withDeadline } from './deadline.ts';
import { DestinationError, StoreConflict } from './destination-error.ts';
import { md5, type UploadOptions } from './put-command.ts';
import { isConflict } from './s3-error.ts';

const mb = 1_024 ** 2;
const partBytesMin = 8 * mb;
/** The limit of S3 is 10,000 parts. */
const partsMax = 9_000;
/** Parts that are uploaded concurrently. Each is held in memory meanwhile. */
const inFlightMax = 3;
/** Memory for parts. One larger part is uploaded at a time. */
const inFlightBytesMax = 64 * mb;
/** Time limit for aborting an upload that has failed. */
const cleanupMs = 20_000;
/** After an abort, time to wait for the response to CreateMultipartUpload: without its id the upload cannot be aborted. */
const startGraceMs = 3_000;
const abortTries = 3;

export interface Upload {
  /** The key with the prefix of the destination. */
  name: string;
  /** All parts have `partBytes` bytes, except the last one, which may have fewer. */
  parts: AsyncIterable<Buffer>;
  partBytes: number;
  /** Stored with the object. */
  metadata: Record<string, string>;
  contentType: string;
  /** Completes with `If-None-Match: *`. */
  ifAbsent: boolean;
  /** Called between the last part and the completion. If it throws, the upload is aborted. */
  beforeEnd?(): Promise<void>;
}

/** Size of a part in bytes, a multiple of 1 MB, with which the file has at most `partsMax` parts. */
export const partBytesOf = (bytes: number): number =>
  Math.max(partBytesMin, Math.ceil(bytes / partsMax / mb) * mb);

const inFlightOf = (partBytes: number): number =>
  Math.min(inFlightMax, Math.max(1, Math.floor(inFlightBytesMax / partBytes)));

export class S3Uploads {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #options: UploadOptions;
  readonly #callMs: number;
  readonly #toError: (error: unknown) => Error;

  constructor(parts: {
    client: S3Client;
    bucket: string;
    options: UploadOptions;
    callMs: number;
    /** Converts errors of requests. */
    toError: (error: unknown) => Error;
  }) {
    this.#client = parts.client;
    this.#bucket = parts.bucket;
    this.#options = parts.options;
    this.#callMs = parts.callMs;
    this.#toError = parts.toError;
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
      throw error instanceof StoreConflict ? error : this.#toError(error);
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
      Metadata: { ...metadata, ...upload.metadata },
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
      throw this.#toError(error);
    } finally {
      clearTimeout(timer);
      stopWaiting();
    }
  }

  /** Resolves or rejects only when no request is running any more. */
  async #sendParts(upload: Upload, UploadId: string, signal: AbortSignal): Promise<CompletedPart[]> {
    const source = upload.parts[Symbol.asyncIterator]();
    const parts: CompletedPart[] = [];
    const failed = new AbortController();
    let next = 0;
    const sendNextParts = async (): Promise<void> => {
      for (;;) {
        signal.throwIfAborted();
        failed.signal.throwIfAborted();
        const index = next++;
        // The iterator returns parts in the order of the calls.
        const part = await source.next();
        if (part.done === true) return;
        parts[index] = await this.#sendPart(upload.name, UploadId, index + 1, part.value, failed.signal);
      }
    };
    const stopWaiting = onAbort(signal, () => failed.abort(signal.reason));
    try {
      const workers = Array.from({ length: inFlightOf(upload.partBytes) }, () =>
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
      await source.return?.();
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
