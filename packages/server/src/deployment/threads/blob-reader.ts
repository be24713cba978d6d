// Reads the blobs of states. Those that were read last come from memory, so that a client that reads a state after each run gets the earlier
// messages without a statement.
import { LRUCache } from 'lru-cache';
import type { RecentBlobs } from '../../engine/checkpoints/recent-blobs.ts';
import type { BlobRoot, BlobRow } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { CheckpointStorage, SizedBlobs } from '../../storage/deployment/checkpoints/checkpoints.ts';

type StoredBlobs = Pick<CheckpointStorage, 'blobsOf' | 'nodesOf'>;

/** The recent blobs that some roots reach, and the hashes at which the search has ended. */
interface Found {
  known: BlobRow[];
  bytes: number;
  missing: string[];
}

/** States with more blobs than this are read node by node when some of them are known. One more statement costs less than these rows. */
const fewBlobs = 50;
const countedSpacesMax = 10_000;

/** As storage counts it: the bytes of the payload, and an estimate for the row and its references. */
const bytesOf = ({ payload, refs }: BlobRow): number =>
  Buffer.byteLength(payload ?? '') + 64 + 40 * (refs?.length ?? 0);

export class BlobReader {
  readonly #stored: StoredBlobs;
  readonly #recent: RecentBlobs;
  /** The number of blobs of the last read, by space. */
  readonly #counts = new LRUCache<string, number>({ max: countedSpacesMax });

  constructor(stored: StoredBlobs, recent: RecentBlobs) {
    this.#stored = stored;
    this.#recent = recent;
  }

  /**
   * The blobs of these roots, all blobs that they reference, and their size; without the blobs when it is more than `bytesMax`. The roots are
   * references of stored checkpoints: what they name has not changed.
   */
  async read(roots: BlobRoot[], bytesMax: number): Promise<SizedBlobs> {
    const space = roots[0]?.space;
    // Rows do not have their space, so only blobs of one thread are kept.
    if (space === undefined || roots.some((root) => root.space !== space))
      return this.#stored.blobsOf(roots, bytesMax);
    const hashes = roots.flatMap((root) => root.hashes);
    const read =
      (await this.#readOf(space, hashes, bytesMax)) ?? (await this.#stored.blobsOf(roots, bytesMax));
    if (read.blobs) this.#counts.set(space, read.blobs.length);
    return read;
  }

  /** Undefined when storage must tell the size: here, a blob that is both known and below a missing one counts twice. */
  async #readOf(space: string, hashes: string[], bytesMax: number): Promise<SizedBlobs | undefined> {
    let found = this.#find(space, hashes);
    if (found.missing.length > 0 && (this.#counts.get(space) ?? 0) > fewBlobs) {
      const nodes = await this.#stored.nodesOf([{ space, hashes: found.missing }], bytesMax);
      if (!nodes.blobs) return undefined;
      this.#recent.add(space, nodes.blobs);
      found = this.#find(space, hashes);
    }
    const { known, bytes, missing } = found;
    if (missing.length === 0) return { blobs: bytes > bytesMax ? undefined : known, bytes };
    const read = await this.#stored.blobsOf([{ space, hashes: missing }], bytesMax);
    if (read.blobs) this.#recent.add(space, read.blobs);
    if (known.length === 0) return read;
    const sum = bytes + read.bytes;
    return read.blobs && sum <= bytesMax ? { blobs: [...known, ...read.blobs], bytes: sum } : undefined;
  }

  #find(space: string, hashes: string[]): Found {
    const found: Found = { known: [], bytes: 0, missing: [] };
    const reached = new Set(hashes);
    // The set grows while it is iterated.
    for (const hash of reached) {
      const blob = this.#recent.find(space, hash);
      if (blob) {
        found.known.push(blob);
        found.bytes += bytesOf(blob);
        for (const ref of blob.refs ?? []) reached.add(ref);
      } else found.missing.push(hash);
    }
    return found;
  }
}
