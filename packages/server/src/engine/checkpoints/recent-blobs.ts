// The blobs that a process has read or stored last: in an executor those of its runs, in the server process those of the states that clients
// have read. The next run or read of a conversation need not read them again.
// A blob is found only by a reference of a stored checkpoint, and its hash covers its content: it cannot be out of date.
import { LRUCache } from 'lru-cache';
import type { BlobRow } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';

/** Characters of all blobs; a character takes one byte of memory or two. */
const charsMax = 32 * 1024 * 1024;
/** Larger blobs would displace too many others. */
const blobCharsMax = 1024 * 1024;

/** In characters; the hash, the references and the entry are estimated. */
const sizeOf = ({ refs, payload }: BlobRow): number =>
  200 + 80 * (refs?.length ?? 0) + (payload?.length ?? 0);

export class RecentBlobs {
  readonly #blobs = new LRUCache<string, BlobRow>({
    maxSize: charsMax,
    maxEntrySize: blobCharsMax,
    sizeCalculation: sizeOf,
  });

  find(space: string, hash: string): BlobRow | undefined {
    return this.#blobs.get(`${space} ${hash}`);
  }

  add(space: string, blobs: readonly BlobRow[]): void {
    for (const { hash, refs, payload } of blobs) this.#blobs.set(`${space} ${hash}`, { hash, refs, payload });
  }
}
