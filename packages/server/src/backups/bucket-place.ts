// Backups in buckets. An object cannot be renamed, so the manifest, which is written last, makes a backup complete.
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Bucket, BucketObject } from '../s3/bucket.ts';
import { DestinationError, StoreConflict } from '../s3/destination-error.ts';
import { partBytesOf } from '../s3/s3-uploads.ts';
import { BackupError, type BackupSource, type BackupTarget } from '../storage/backup/places.ts';
import { manifestName } from '../storage/backup/manifest.ts';

/** The compressed rows may be larger than the estimate. */
const estimateFactor = 1.25;
/** Time limit for removing the objects of a backup that has failed. */
const discardMs = 30_000;

export class BucketTarget implements BackupTarget {
  readonly place: string;
  readonly #bucket: Bucket;
  readonly #signal: AbortSignal;
  /** Stored with each object, to tell them from those of another backup. */
  readonly #id = randomUUID();
  /** What is stored, by key. Undefined while it is not known whether the object exists. */
  readonly #objects = new Map<string, BucketObject | undefined>();
  /** False when the service does not support `If-None-Match`. */
  #isConditional = true;

  constructor(place: string, bucket: Bucket, signal: AbortSignal) {
    this.place = place;
    this.#bucket = bucket;
    this.#signal = signal;
  }

  async open(): Promise<void> {
    const found = await this.#explained(() => this.#bucket.list(this.#signal, { limit: 1 }));
    if (found.size > 0) throw new BackupError(`${this.place} is not empty. Name a new prefix for the backup`);
  }

  async write(file: string, content: Readable, bytesExpected: number): Promise<void> {
    const partBytes = partBytesOf(bytesExpected * estimateFactor);
    const parts = partsOf(content, partBytes);
    const first = await parts.next();
    const body = first.done === true ? Buffer.alloc(0) : first.value;
    await this.#explained(() =>
      body.length < partBytes
        ? this.#put(file, body, 'application/gzip')
        : this.#upload(file, body, parts, partBytes),
    );
  }

  async finish(manifest: string): Promise<void> {
    await this.#explained(async () => {
      await this.#assertStored();
      await this.#put(manifestName, Buffer.from(manifest), 'application/json');
    });
  }

  async discard(): Promise<void> {
    const signal = AbortSignal.timeout(discardMs);
    // The manifest is first: without it the others are no backup.
    for (const file of [...this.#objects.keys()].toReversed()) await this.#bucket.remove(file, signal);
  }

  async #put(file: string, body: Buffer, contentType: string): Promise<void> {
    this.#objects.set(file, undefined);
    try {
      const etag = await this.#putBody(file, body, contentType);
      this.#objects.set(file, { bytes: body.length, etag });
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      // The response to an earlier attempt may have been lost.
      const found = await this.#findOwn(file, body.length);
      if (found !== undefined) return void this.#objects.set(file, found);
      this.#objects.delete(file);
      throw error;
    }
  }

  async #putBody(file: string, body: Buffer, contentType: string): Promise<string | undefined> {
    const upload = { body, metadata: { backup: this.#id }, contentType, ifAbsent: this.#isConditional };
    try {
      return await this.#bucket.put(file, upload, this.#signal);
    } catch (error) {
      const isUnsupported = error instanceof DestinationError && error.code === 'NotImplemented';
      if (!isUnsupported || !upload.ifAbsent) throw error;
      this.#isConditional = false;
      return await this.#bucket.put(file, { ...upload, ifAbsent: false }, this.#signal);
    }
  }

  async #upload(file: string, first: Buffer, rest: AsyncGenerator<Buffer>, partBytes: number): Promise<void> {
    this.#objects.set(file, undefined);
    const sum = { bytes: 0 };
    const parts = startingWith(first, rest, sum);
    const metadata = { backup: this.#id };
    const upload = { parts, partBytes, metadata, contentType: 'application/gzip', ifAbsent: false };
    await this.#bucket.upload(file, upload, this.#signal);
    const found = await this.#findOwn(file, sum.bytes);
    if (found === undefined)
      throw new BackupError(`The upload of ${this.place}/${file} was aborted by another client`);
    this.#objects.set(file, found);
  }

  async #findOwn(file: string, bytes: number): Promise<BucketObject | undefined> {
    const found = await this.#bucket.head(file, this.#signal);
    return found?.metadata['backup'] === this.#id && found.bytes === bytes ? found : undefined;
  }

  /** The service has compared the checksum of each part. This compares the objects with what was uploaded. */
  async #assertStored(): Promise<void> {
    const listed = await this.#bucket.list(this.#signal);
    for (const [file, stored] of this.#objects) {
      const found = listed.get(file);
      if (found === undefined || found.bytes !== stored?.bytes || found.etag !== stored.etag)
        throw new BackupError(
          `${this.place}/${file} is not what was uploaded: another program has changed or deleted it. Name a new prefix for the backup`,
        );
    }
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreConflict)
        throw new BackupError(`Another backup is written to ${this.place}. Name a new prefix`, {
          cause: error,
        });
      if (!(error instanceof DestinationError)) throw error;
      throw new BackupError(`${this.place} cannot be written`, { cause: error });
    }
  }
}

export class BucketSource implements BackupSource {
  readonly place: string;
  readonly isRemote = true;
  readonly #bucket: Bucket;
  readonly #signal: AbortSignal;

  constructor(place: string, bucket: Bucket, signal: AbortSignal) {
    this.place = place;
    this.#bucket = bucket;
    this.#signal = signal;
  }

  async sizeOf(file: string): Promise<number> {
    const found = await this.#bucket.head(file, this.#signal).catch((error: unknown) => {
      throw this.#explain(error);
    });
    if (found === undefined) throw new Error('The object does not exist');
    return found.bytes;
  }

  async *read(file: string): AsyncGenerator<Buffer> {
    try {
      yield* this.#bucket.read(file, this.#signal);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Only a missing object is a fault of the backup. */
  #explain(error: unknown): unknown {
    return error instanceof DestinationError && error.code !== 'NoSuchKey'
      ? new BackupError(`${this.place} cannot be read`, { cause: error })
      : error;
  }
}

/** Parts of exactly `partBytes` bytes, and a last one with the rest. No part is empty. */
export async function* partsOf(content: Readable, partBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes >= partBytes) {
      const joined = Buffer.concat(chunks, bytes);
      yield joined.subarray(0, partBytes);
      // A copy: a view would keep the memory of the part.
      chunks = [Buffer.from(joined.subarray(partBytes))];
      bytes -= partBytes;
    }
  }
  if (bytes > 0) yield Buffer.concat(chunks, bytes);
}

/** The first part and the others, whose bytes are added to `sum`. */
export async function* startingWith(
  first: Buffer,
  rest: AsyncIterable<Buffer>,
  sum: { bytes: number },
): AsyncGenerator<Buffer> {
  sum.bytes += first.length;
  yield first;
  for await (const part of rest) {
    sum.bytes += part.length;
    yield part;
  }
}
