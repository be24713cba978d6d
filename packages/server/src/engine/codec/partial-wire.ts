// Values of which only some blobs have been read, as the JSON that clients get. A blob that was not read is an `Unread` in its place.
import { assemble } from './assemble.ts';
import type { Lookup } from './blob.ts';
import { damaged } from './codec-error.ts';
import { wireText, wireValue } from './wire.ts';

export class Unread {
  readonly hash: string;

  constructor(hash: string) {
    this.hash = hash;
  }
}

/** No blob has it: PostgreSQL stores no NUL in a text. */
const unreadPayload = '\u0000';

/** Like `joinWire`, with blobs that were not read. Lists need the blobs of their nodes, but not of their elements. */
export const joinPartly = (ref: string, lookup: Lookup): unknown => {
  // An element that occurs several times is converted once.
  const known = new Map<string, unknown>();
  const convert = (text: string, item: string): unknown => {
    if (!known.has(item))
      known.set(item, text === unreadPayload ? new Unread(item.slice(1)) : wireText(text));
    return known.get(item);
  };
  return assemble(ref, (hash) => lookup(hash) ?? { payload: unreadPayload }, {
    text: (text, item) => {
      if (item !== undefined) return convert(text, item);
      if (text === unreadPayload) throw damaged('a part of a list is missing');
      return wireText(text);
    },
    tree: (tree) => wireValue(tree) ?? null,
  });
};

/** The blobs that are missing from the value. */
export const unreadIn = (value: unknown): string[] => {
  const hashes: string[] = [];
  const visit = (part: unknown): void => {
    if (part instanceof Unread) hashes.push(part.hash);
    else if (Array.isArray(part)) part.forEach(visit);
    else if (typeof part === 'object' && part !== null) Object.values(part).forEach(visit);
  };
  visit(value);
  return hashes;
};
