// The objects below a prefix of a bucket.
import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { BucketAddress } from './bucket-address.ts';
import { withDeadline } from './deadline.ts';
import { StoreConflict } from './destination-error.ts';
import { downloadObject } from './object-download.ts';
import { putCommand, type SingleUpload, type UploadOptions } from './put-command.ts';
import { isConflict } from './s3-error.ts';
import { S3Uploads, type Upload } from './s3-uploads.ts';

export interface BucketParts {
  client: S3Client;
  address: BucketAddress;
  options: UploadOptions;
  /** Time limit for one call, including retries. */
  callMs: number;
  /** Converts errors of requests. */
  toError: (error: unknown) => Error;
}

export interface BucketObject {
  bytes: number;
  /** Without its quotes, which some services leave out in some responses. */
  etag: string | undefined;
}

export interface HeadObject extends BucketObject {
  metadata: Record<string, string>;
}

/** Keys are relative to the prefix. Methods throw StoreConflict or what `toError` returns; when aborted, the reason of the signal. */
export class Bucket implements AsyncDisposable {
  readonly #parts: BucketParts;
  readonly #uploads: S3Uploads;

  constructor(parts: BucketParts) {
    this.#parts = parts;
    this.#uploads = new S3Uploads({ ...parts, bucket: parts.address.bucket });
  }

  /** Returns the ETag. */
  async put(
    key: string,
    upload: Omit<SingleUpload, 'name'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { client, options, address } = this.#parts;
    const command = putCommand(address.bucket, options, { ...upload, name: this.#nameOf(key) });
    return this.#call(signal, async (abortSignal) =>
      withoutQuotes((await client.send(command, { abortSignal })).ETag),
    );
  }

  /** Uploads an object in parts. `head` shows whether it is stored: the response to the completion may be lost, or have no ETag. */
  async upload(key: string, upload: Omit<Upload, 'name'>, signal: AbortSignal): Promise<void> {
    await this.#uploads.send({ ...upload, name: this.#nameOf(key) }, signal);
  }

  /** Undefined when there is no such object. */
  async head(key: string, signal: AbortSignal): Promise<HeadObject | undefined> {
    const { client, address } = this.#parts;
    const command = new HeadObjectCommand({ Bucket: address.bucket, Key: this.#nameOf(key) });
    return this.#call(signal, async (abortSignal) => {
      try {
        const {
          ContentLength: bytes = 0,
          ETag: etag,
          Metadata = {},
        } = await client.send(command, { abortSignal });
        return { bytes, etag: withoutQuotes(etag), metadata: Metadata };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  /** All objects by key, or the first ones. */
  async list(signal: AbortSignal, { limit = Infinity } = {}): Promise<Map<string, BucketObject>> {
    const { client, address } = this.#parts;
    const found = new Map<string, BucketObject>();
    let ContinuationToken: string | undefined;
    do {
      const command = new ListObjectsV2Command({
        Bucket: address.bucket,
        Prefix: address.prefix,
        MaxKeys: Math.min(1_000, limit),
        ContinuationToken,
      });
      const page: ListObjectsV2CommandOutput = await this.#call(signal, (abortSignal) =>
        client.send(command, { abortSignal }),
      );
      for (const { Key = '', Size = 0, ETag } of page.Contents ?? [])
        found.set(Key.slice(address.prefix.length), { bytes: Size, etag: withoutQuotes(ETag) });
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined && found.size < limit);
    return found;
  }

  async *read(key: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const { client, address, callMs, toError } = this.#parts;
    try {
      const name = this.#nameOf(key);
      yield* downloadObject({ client, bucket: address.bucket, name, callMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw toError(error);
    }
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    const { client, address } = this.#parts;
    const command = new DeleteObjectCommand({ Bucket: address.bucket, Key: this.#nameOf(key) });
    await this.#call(signal, async (abortSignal) => void (await client.send(command, { abortSignal })));
  }

  #nameOf(key: string): string {
    return this.#parts.address.prefix + key;
  }

  async #call<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await withDeadline(signal, this.#parts.callMs, work);
    } catch (error) {
      signal.throwIfAborted();
      throw isConflict(error)
        ? new StoreConflict('The key already has an object')
        : this.#parts.toError(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.client.destroy();
  }
}

/** A response to HEAD has no body, so errors are identified by the status. */
const isMissing = (error: unknown): boolean =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404;

const withoutQuotes = (etag: string | undefined): string | undefined => etag?.replaceAll('"', '');
