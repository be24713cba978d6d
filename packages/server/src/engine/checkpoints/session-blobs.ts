// The blobs of what a session reads and writes. Each is stored once, as far as the session knows.
import type { BlobRow } from '../../storage/deployment/checkpoint-rows.ts';
import type { RefCache } from '../codec/ref-cache.ts';
import type { ValueCodec } from '../codec/value-codec.ts';
import type { BatchItems } from './commit-queue.ts';
import type { RecentBlobs } from './recent-blobs.ts';

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
    for (const { hash, refs, payload } of blobs) {
      if (this.#stored.has(hash)) continue;
      this.#stored.add(hash);
      this.#pendingBytes += payload?.length ?? 0;
      this.#pending.set(hash, { hash, refs: refs ?? null, payload: payload ?? null });
    }
    return ref;
  }

  /** The blobs for a flush. */
  drain(): BatchItems['blobs'] {
    const blobs = [...this.#pending.values()];
    this.#pending.clear();
    this.#pendingBytes = 0;
    this.#recent?.add(this.#space, blobs);
    return blobs.map((blob) => ({ space: this.#space, ...blob }));
  }
}
