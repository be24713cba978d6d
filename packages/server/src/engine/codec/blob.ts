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
