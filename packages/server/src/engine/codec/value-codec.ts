import { assemble } from './assemble.ts';
import { type Lookup, hashesOf } from './blob.ts';
import { Decoder, type ValueClasses } from './decoder.ts';
import type { RefCache } from './ref-cache.ts';
import { split, type Split } from './split.ts';
import { TreeEncoder } from './tree-encoder.ts';
import { wireValue } from './wire.ts';

export interface ValueCodec {
  /** JSON text of the whole value. `name` is the first part of paths in errors. */
  encode(value: unknown, name?: string): string;
  decode(text: string): unknown;
  /** Splits the value into blobs. With a cache, only parts that are not in the cache are encoded and returned. */
  split(value: unknown, cache?: RefCache, name?: string): Split;
  /** Rebuilds a value. With a cache, a later `split` recognises its parts. */
  join(ref: string, lookup: Lookup, cache?: RefCache): unknown;
  hashesOf(ref: string): string[];
  /** The JSON text that clients get. */
  toJson(value: unknown, name?: string): string;
}

/** Converts values of checkpoint channels to text and back, with the given copies of their classes. */
export const createCodec = (classes: ValueClasses): ValueCodec => {
  const decoder = new Decoder(classes);
  return {
    encode: (value, name) => new TreeEncoder({ name }).text(value),
    decode: (text) => decoder.text(text),
    split,
    join: (ref, lookup, cache) =>
      assemble(ref, lookup, {
        text: (text, item) => {
          const value = decoder.text(text);
          if (item !== undefined && typeof value === 'object' && value !== null) cache?.remember(value, item);
          return value;
        },
        tree: (tree) => decoder.tree(tree),
      }),
    hashesOf,
    toJson: (value, name) => {
      const tree = new TreeEncoder({ name }).tree(value);
      return JSON.stringify(wireValue(tree)) ?? 'null';
    },
  };
};
