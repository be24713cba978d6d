// Kinds of blobs, distinguished by `refs` and the first character of the payload:
//   no refs                            the payload is the value's stored form
//   refs, payload [s, pos, json, …]    a list: the first s refs are lists to concatenate; its further elements are the
//                                      other refs, in order, with `json` inserted as the element at each `pos`
//   refs, payload {"at":[…],"of":…}    an object: refs are the values of the keys `at`, `of` has the other keys
import { hash } from 'node:crypto';

/** A row of the table `blobs`. Every blob that it needs is named in `refs`. */
export interface Blob {
  hash: string;
  refs?: string[];
  payload?: string;
}

/** As read from storage. */
export interface StoredBlob {
  refs?: string[] | null;
  payload?: string | null;
}

export type Lookup = (hash: string) => StoredBlob | undefined;

export const childRefs = (blob: StoredBlob): string[] => blob.refs ?? [];

const uuid = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;

/** The hash covers kind and content: the first 16 bytes of a SHA-256, written as a uuid. */
export const createBlob = (payload: string, refs: string[] = []): Blob =>
  refs.length === 0
    ? { hash: uuid(hash('sha256', `value ${payload}`)), payload }
    : { hash: uuid(hash('sha256', `refs ${refs.join(',')} ${payload}`)), refs, payload };

// A stored value is a reference (a short text) and the blobs that it reaches. References:
//   =<json>         the value itself
//   #<uuid>         the value is this blob
//   [<uuid>,<uuid>  a list of one or two elements, each a blob

/** The blobs that the reference names. Blobs that these need are in their `refs`. */
export const hashesOf = (ref: string): string[] => {
  if (ref.startsWith('#')) return [ref.slice(1)];
  return ref.startsWith('[') ? ref.slice(1).split(',') : [];
};

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
