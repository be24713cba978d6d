// The blobs of what a session reads and writes. Each is stored once, as far as the session knows.
import type { BlobRow } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { RefCache } from '../codec/ref-cache.ts';
import type { ValueCodec } from '../codec/value-codec.ts';
import { CheckpointNotStored, type LargestValue, megabytes } from './checkpoint-not-stored.ts';
import type { BatchItems } from './commit-queue.ts';
import type { RecentBlobs } from './recent-blobs.ts';

/** Characters of the blobs of one value, and of all values that wait for one flush: V8 has no strings above 512 MB. */
const valueBytesMax = 256 * 1024 * 1024;
const pendingBytesMax = 384 * 1024 * 1024;

const advice = 'Keep large data outside of the state, and store a reference to it';

interface SessionBlobsOptions {
  codec: ValueCodec;
  cache: RefCache;
  blob_space: string;
  recent?: RecentBlobs;
}

export class SessionBlobs {
  readonly #codec: ValueCodec;
  readonly #cache: RefCache;
  readonly #recent: RecentBlobs | undefined;
  readonly #space: string;
  readonly #stored = new Set<string>();
  readonly #pending = new Map<string, BlobRow>();
  #pendingBytes = 0;
  #largest: LargestValue | undefined;
  /** Of the last drain. */
  largestDrained: LargestValue | undefined;

  /** Without `recent`, blobs are not kept for other sessions. */
  constructor({ codec, cache, recent, blob_space }: SessionBlobsOptions) {
    this.#codec = codec;
    this.#cache = cache;
    this.#recent = recent;
    this.#space = blob_space;
  }

  /** Encoded bytes that wait for a flush. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Records blobs that were read from storage. */
  record(blobs: readonly BlobRow[]): void {
    for (const { hash } of blobs) this.#stored.add(hash);
    this.#recent?.add(this.#space, blobs);
  }

  /** A blob of a checkpoint that this session has put, or that is stored. Undefined when it has to be read. */
  find(hash: string): BlobRow | undefined {
    const pending = this.#pending.get(hash);
    if (pending) return pending;
    const recent = this.#recent?.find(this.#space, hash);
    if (recent) this.#stored.add(hash);
    return recent;
  }

  /**
   * Returns the reference of the value; its new blobs wait for the next flush. Throws an error with the path inside the channel when the
   * value cannot be stored.
   */
  encode(value: unknown, channel: string): string {
    const { ref, blobs } = this.#codec.split(value, this.#cache, `values.${channel}`);
    let bytes = 0;
    for (const { hash, payload } of blobs) if (!this.#stored.has(hash)) bytes += payload?.length ?? 0;
    this.#checkSize(`values.${channel}`, bytes);
    for (const { hash, refs, payload } of blobs) {
      if (this.#stored.has(hash)) continue;
      this.#stored.add(hash);
      this.#pending.set(hash, { hash, refs: refs ?? null, payload: payload ?? null });
    }
    this.#pendingBytes += bytes;
    if (bytes > (this.#largest?.bytes ?? 0)) this.#largest = { name: `values.${channel}`, bytes };
    return ref;
  }

  /** Throws before a flush is gathered that no database and no string of V8 could hold. */
  #checkSize(name: string, bytes: number): void {
    if (bytes > valueBytesMax)
      throw new CheckpointNotStored(
        `${name} is too large to be stored: it adds ${megabytes(bytes)}, and at most ${megabytes(valueBytesMax)} are possible. ${advice}`,
      );
    const total = this.#pendingBytes + bytes;
    if (total > pendingBytesMax)
      throw new CheckpointNotStored(
        `${name} cannot be stored: the values of this step have ${megabytes(total)}, and at most ${megabytes(pendingBytesMax)} are possible. ${advice}`,
      );
  }

  /** The blobs for a flush. */
  drain(): BatchItems['blobs'] {
    this.largestDrained = this.#largest;
    this.#largest = undefined;
    const blobs = [...this.#pending.values()];
    this.#pending.clear();
    this.#pendingBytes = 0;
    this.#recent?.add(this.#space, blobs);
    return blobs.map((blob) => ({ space: this.#space, ...blob }));
  }
}
