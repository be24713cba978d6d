import { childRefs, type StoredBlob } from './blob.ts';

/** About the length of a reference to a blob that was not read. */
const unreadChars = 40;

/**
 * Characters of the stored values when every occurrence of a blob counts: a list of a million equal elements is stored as a few blobs.
 * An upper bound where blobs have no reference from others: those count once.
 */
export const expandedSize = (blobs: readonly (StoredBlob & { hash: string })[]): number => {
  const byHash = new Map(blobs.map((blob) => [blob.hash, blob]));
  const known = new Map<string, number>();
  const sizeOf = (hash: string): number => {
    const found = known.get(hash);
    if (found !== undefined) return found;
    const blob = byHash.get(hash);
    let size = blob?.payload?.length ?? unreadChars;
    for (const child of blob ? childRefs(blob) : []) size += sizeOf(child);
    known.set(hash, size);
    return size;
  };
  const inner = new Set(blobs.flatMap((blob) => childRefs(blob)));
  return blobs.reduce((sum, { hash }) => (inner.has(hash) ? sum : sum + sizeOf(hash)), 0);
};
