// Files in several parts. S3 keeps the parts of an upload, and charges for them, until it is completed or aborted: whatever
// becomes of one here, it is aborted, and looked after that it is.
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
/** S3 takes 10,000: a file that has grown a little since it was measured fits too. */
const partsMax = 9_000;
/** Each is in memory while it is on its way. */
const inFlightMax = 3;
/** For clearing up after an upload that was given up: nobody waits for it much longer. */
const clearMs = 20_000;
/** How long the answer to the start of an upload is waited for when it is aborted: without it there is no id to abort. */
const startGraceMs = 3_000;
const abortTries = 3;

export interface Upload {
  /** The whole key. */
  name: string;
  source: FileHandle;
  bytes: number;
  sha256: string;
  contentType: string;
  /** Asks the service to refuse when there is an object. */
  ifAbsent: boolean;
  /** Called when all parts are there. What it throws ends the upload. */
  beforeEnd?(): Promise<void>;
}

/** Whole megabytes, so that the parts of a file of any size are fewer than S3 takes. */
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
    /** Never shown, whatever the service says. */
    secrets: readonly string[];
  }) {
    this.#client = parts.client;
    this.#bucket = parts.bucket;
    this.#options = parts.options;
    this.#callMs = parts.callMs;
    this.#secrets = parts.secrets;
  }

  /** False: the service says that there is no such upload, which is also what it says of one that it has completed before. */
  async send(upload: Upload, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const UploadId = await this.#start(upload, signal);
    try {
      signal.throwIfAborted();
      const parts = await this.#sendParts(upload, UploadId, signal);
      await upload.beforeEnd?.();
      return await this.#complete(upload, UploadId, parts, signal);
    } catch (error) {
      await this.#abandon(upload.name, UploadId);
      signal.throwIfAborted();
      throw error instanceof StoreConflict ? error : toDestinationError(error, this.#secrets);
    }
  }

  /** All that is under way of a key, but one. Throws what the service says when it does not let us look. */
  async abandonAll(name: string, signal: AbortSignal, but?: string): Promise<void> {
    const list = new ListMultipartUploadsCommand({ ...this.#every(), Prefix: name });
    const { Uploads = [] } = await this.#client.send(list, { abortSignal: signal });
    for (const { Key, UploadId } of Uploads)
      if (Key === name && UploadId !== undefined && UploadId !== but)
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
        if (UploadId === undefined) throw new Error('An upload was started without an id');
        if (($metadata.attempts ?? 1) > 1) await this.#clear(upload.name, UploadId);
        return UploadId;
      });
    } catch (error) {
      await this.#clear(upload.name);
      signal.throwIfAborted();
      throw toDestinationError(error, this.#secrets);
    } finally {
      clearTimeout(timer);
      stopWaiting();
    }
  }

  /** Returns when no request is under way any more, however it ends. */
  async #sendParts(upload: Upload, UploadId: string, signal: AbortSignal): Promise<CompletedPart[]> {
    const partBytes = partBytesOf(upload.bytes);
    const count = Math.ceil(upload.bytes / partBytes);
    const parts: CompletedPart[] = [];
    const failed = new AbortController();
    let next = 0;
    const sendSome = async (): Promise<void> => {
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
        sendSome().catch((error: unknown) => {
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
      throw new DestinationError('The service took a part and did not say so as it should.', {
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
      // It answers 200 before it knows, and may then say nothing or anything.
      if (ETag !== undefined) return true;
      throw new DestinationError('The service did not say whether it has put the file together.', {
        code: 'InvalidAnswer',
        isFinal: false,
      });
    } catch (error) {
      if (isGone(error)) return false;
      throw isConflict(error) ? new StoreConflict('There is an object under the key') : error;
    }
  }

  #every(): { Bucket: string; ExpectedBucketOwner?: string | undefined } {
    return { Bucket: this.#bucket, ...this.#options.every };
  }

  /** What went wrong before is what counts: what goes wrong here is left to whoever clears up the bucket. */
  async #abandon(name: string, UploadId: string): Promise<void> {
    await swallowed((signal) => this.#abort(name, UploadId, signal));
  }

  async #clear(name: string, but?: string): Promise<void> {
    await swallowed((signal) => this.abandonAll(name, signal, but));
  }

  /** A part that was on its way can arrive after the upload was aborted, and would stay. */
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

/** Some services say that there is no key. */
const isGone = (error: unknown): boolean => ['NoSuchUpload', 'NoSuchKey'].includes((error as Error).name);

const swallowed = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  try {
    await withDeadline(new AbortController().signal, clearMs, work);
  } catch {
    // Not everybody may list or abort; a rule of the bucket's lifecycle does it then.
  }
};

/** Exactly these bytes of a file. */
export const readSlice = async (source: FileHandle, start: number, bytes: number): Promise<Buffer> => {
  const slice = Buffer.allocUnsafe(bytes);
  for (let filled = 0; filled < bytes;) {
    const { bytesRead } = await source.read(slice, filled, bytes - filled, start + filled);
    if (bytesRead === 0) throw new Error(`The local file ends at ${start + filled}`);
    filled += bytesRead;
  }
  return slice;
};
