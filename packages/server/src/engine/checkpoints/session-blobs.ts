// The blobs of what a session writes. Each is stored once, as far as the session knows.
import type { BlobRow } from '../../storage/deployment/checkpoint-rows.ts';
import type { RefCache } from '../codec/ref-cache.ts';
import type { ValueCodec } from '../codec/value-codec.ts';
import type { BatchItems } from './commit-queue.ts';

export class SessionBlobs {
  readonly #codec: ValueCodec;
  readonly #cache: RefCache;
  readonly #stored = new Set<string>();
  readonly #pending = new Map<string, BlobRow>();
  #pendingBytes = 0;

  constructor(codec: ValueCodec, cache: RefCache) {
    this.#codec = codec;
    this.#cache = cache;
  }

  /** Encoded bytes that wait for a flush. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Records blobs that were read from storage. */
  record(hashes: Iterable<string>): void {
    for (const hash of hashes) this.#stored.add(hash);
  }

  pending(hash: string): BlobRow | undefined {
    return this.#pending.get(hash);
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

  /** The blobs for a flush, for this blob space. */
  drain(space: string): BatchItems['blobs'] {
    const blobs = Array.from(this.#pending.values(), (blob) => ({ space, ...blob }));
    this.#pending.clear();
    this.#pendingBytes = 0;
    return blobs;
  }
}
