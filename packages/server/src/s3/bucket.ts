// The objects below a prefix of a bucket.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { BucketAddress } from './bucket-address.ts';
import { withDeadline } from './deadline.ts';
import { StoreConflict } from './destination-error.ts';
import { putCommand, type SingleUpload, type UploadOptions } from './put-command.ts';
import { isConflict } from './s3-error.ts';
import { S3Uploads, type Upload } from './s3-uploads.ts';
import { onAbort } from '../abort.ts';
import { answerBytesMax } from './answer-limit.ts';

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
  readonly #bucket: string;
  readonly #uploads: S3Uploads;

  constructor(parts: BucketParts) {
    this.#parts = parts;
    // With `bucketEndpoint` the client expects the URL of the endpoint as the name of the bucket.
    const { endpoint, bucket, isBucketEndpoint } = parts.address;
    this.#bucket = isBucketEndpoint && endpoint ? endpoint.href.replace(/\/$/, '') : bucket;
    this.#uploads = new S3Uploads({ ...parts, bucket: this.#bucket });
  }

  /** Returns the ETag. */
  async put(
    key: string,
    upload: Omit<SingleUpload, 'name'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { client, options } = this.#parts;
    const command = putCommand(this.#bucket, options, { ...upload, name: this.#nameOf(key) });
    return this.call(signal, async (abortSignal) =>
      withoutQuotes((await client.send(command, { abortSignal })).ETag),
    );
  }

  /**
   * Uploads an object in parts. False when the service reports that the upload does not exist: then `head` shows whether it is stored, because
   * the response to the completion may have been lost.
   */
  upload(key: string, upload: Omit<Upload, 'name'>, signal: AbortSignal): Promise<boolean> {
    return this.#uploads.send({ ...upload, name: this.#nameOf(key) }, signal);
  }

  /** Aborts all unfinished uploads of the key. */
  async removeUnfinished(key: string, signal: AbortSignal): Promise<void> {
    await this.call(signal, (abortSignal) => this.#uploads.abortAll(this.#nameOf(key), abortSignal));
  }

  /** Undefined when there is no such object. */
  async head(key: string, signal: AbortSignal): Promise<HeadObject | undefined> {
    const { client } = this.#parts;
    const command = new HeadObjectCommand(this.#object(key));
    return this.call(signal, async (abortSignal) => {
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
        Bucket: this.#bucket,
        Prefix: address.prefix,
        MaxKeys: Math.min(1_000, limit),
        ContinuationToken,
      });
      const page: ListObjectsV2CommandOutput = await this.call(signal, (abortSignal) =>
        client.send(command, { abortSignal }),
      );
      for (const { Key = '', Size = 0, ETag } of page.Contents ?? [])
        found.set(Key.slice(address.prefix.length), { bytes: Size, etag: withoutQuotes(ETag) });
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined && found.size < limit);
    return found;
  }

  async *read(key: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const { client, callMs, toError } = this.#parts;
    try {
      const name = this.#nameOf(key);
      yield* downloadObject({ client, bucket: this.#bucket, name, callMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw toError(error);
    }
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#parts;
    const command = new DeleteObjectCommand(this.#object(key));
    await this.call(signal, async (abortSignal) => void (await client.send(command, { abortSignal })));
  }

  #object(key: string): { Bucket: string; Key: string } & UploadOptions['every'] {
    return { Bucket: this.#bucket, Key: this.#nameOf(key), ...this.#parts.options.every };
  }

  #nameOf(key: string): string {
    return this.#parts.address.prefix + key;
  }

  /** Executes other requests of the client with the time limit and the errors of this class. */
  async call<T>(signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
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

// Downloads an object in ranges. A range is in memory when it is returned, so a slow reader keeps no connection open, and a lost connection
// costs one range.

/** Ranges that are requested before they are needed. */
const aheadMax = 2;
/** Most attempts to read a range when the connection breaks during its body. The client itself repeats requests that get no response. */
const bodyTries = 5;
/** Doubles with each attempt. */
const pauseMs = 200;

interface ObjectRequest {
  client: S3Client;
  bucket: string;
  /** The key with the prefix. */
  name: string;
  /** Time limit for one range. */
  callMs: number;
  signal: AbortSignal;
}

interface Range {
  body: Buffer;
  /** Of the whole object. */
  bytes: number;
  etag: string | undefined;
}

/** Throws the errors of the client, also when the object is replaced during the download. */
async function* downloadObject(request: ObjectRequest): AsyncGenerator<Buffer> {
  const controller = new AbortController();
  const stopWaiting = onAbort(request.signal, () => controller.abort(request.signal.reason));
  const within = { ...request, signal: controller.signal };
  try {
    const first = await readRange(within, 0);
    if (first === undefined) return;
    yield first.body;
    const pending: Promise<Range | undefined>[] = [];
    let next = answerBytesMax;
    for (;;) {
      for (; pending.length < aheadMax && next < first.bytes; next += answerBytesMax) {
        const range = readRange(within, next, first.etag);
        range.catch(() => undefined); // thrown below, when it is the turn of the range
        pending.push(range);
      }
      const range = await pending.shift();
      if (range === undefined) return;
      yield range.body;
    }
  } finally {
    stopWaiting();
    controller.abort();
  }
}

/** Undefined when the object has no bytes from `start` on. */
const readRange = async (
  request: ObjectRequest,
  start: number,
  etag?: string,
): Promise<Range | undefined> => {
  for (let tries = 1; ; tries++) {
    const progress = { hasResponse: false };
    try {
      return await withDeadline(request.signal, request.callMs, (signal) =>
        requestRange({ ...request, signal }, { start, etag, progress }),
      );
    } catch (error) {
      if ((error as Error).name === 'InvalidRange') return undefined;
      if (request.signal.aborted || !progress.hasResponse || tries === bodyTries) throw error;
    }
    await sleep(pauseMs * 2 ** tries, undefined, { signal: request.signal });
  }
};

const requestRange = async (
  { client, bucket, name, signal }: ObjectRequest,
  { start, etag, progress }: { start: number; etag: string | undefined; progress: { hasResponse: boolean } },
): Promise<Range> => {
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: name,
    Range: `bytes=${start}-${start + answerBytesMax - 1}`,
    ...(etag === undefined ? {} : { IfMatch: etag }),
  });
  const found = await client.send(command, { abortSignal: signal });
  progress.hasResponse = true;
  const body = Buffer.from((await found.Body?.transformToByteArray()) ?? []);
  const bytes = Number(/\/(\d+)$/.exec(found.ContentRange ?? '')?.[1] ?? start + body.length);
  if (body.length !== Math.min(answerBytesMax, bytes - start))
    throw Object.assign(new Error('The response has fewer bytes than the range'), { code: 'ECONNRESET' });
  return { body, bytes, etag: found.ETag };
};
