// The codec of graphs in other languages: values stay JSON text, so that their languages may distinguish what JavaScript does not.
import { assemble, type PartReader } from './assemble.ts';
import { hashesOf } from './blob.ts';
import { elementsOf, membersOf, objectText } from './json-parts.ts';
import type { RefCache } from './ref-cache.ts';
import { isPlain, split } from './split.ts';
import { StoredText } from './stored-text.ts';
import { hasTag, setOwn, tagKey } from './tagged.ts';
import { TreeEncoder } from './tree-encoder.ts';
import type { ValueCodec } from './value-codec.ts';
import { wireText, wireValue } from './wire.ts';

const stored = (text: string): StoredText => new StoredText(text);

/** The stored form of a value that consists of texts, lists, objects and JavaScript values. */
const storedTextOf = (value: unknown, encoder: TreeEncoder): string => {
  if (value instanceof StoredText) return value.text;
  if (Array.isArray(value)) return `[${value.map((part) => storedTextOf(part, encoder)).join(',')}]`;
  if (typeof value !== 'object' || value === null || !isPlain(value)) return encoder.text(value);
  const text = objectText(Object.entries(value).map(([key, part]) => [key, storedTextOf(part, encoder)]));
  return Object.hasOwn(value, tagKey) ? `{"${tagKey}":"object","of":${text}}` : text;
};

/** The JSON text that clients get; undefined for what JSON omits. A text is converted once. */
const wireTextOf = (value: unknown, encoder: TreeEncoder): string | undefined => {
  if (value instanceof StoredText)
    return (value.wire ??= hasTag(value.text) ? JSON.stringify(wireText(value.text)) : value.text);
  if (Array.isArray(value)) return `[${value.map((part) => wireTextOf(part, encoder) ?? 'null').join(',')}]`;
  if (typeof value !== 'object' || value === null || !isPlain(value))
    return JSON.stringify(wireValue(encoder.tree(value)));
  const members = Object.entries(value).map(([key, part]) => [key, wireTextOf(part, encoder)] as const);
  return objectText(members.flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const])));
};

/** The members of an object. Of one with the key of tags, the stored form is {"$":"object","of":{…}}. */
const membersIn = (text: string): Record<string, unknown> => {
  const members = membersOf(text);
  const [tag, of] = members;
  if (tag?.[0] === tagKey && of !== undefined) return membersIn(of[1]);
  const object: Record<string, unknown> = {};
  for (const [key, part] of members) setOwn(object, key, stored(part));
  return object;
};

/** Reads the parts of a value without parsing them. */
const readerOf = (cache: RefCache | undefined): PartReader => ({
  text: (text, item) => {
    // Without a reference the text is a list of elements, or short.
    if (item === undefined && text.startsWith('[')) return elementsOf(text).map(stored);
    const value = stored(text);
    if (item !== undefined) cache?.remember(value, item);
    return value;
  },
  tree: (tree) => tree,
  // [lists, position, element, position, element, …]
  list: (payload) =>
    elementsOf(payload).map((text, index) =>
      index > 0 && index % 2 === 0 ? stored(text) : (JSON.parse(text) as number),
    ),
  object: (payload) => {
    const { at = '[]', of = '{}' } = Object.fromEntries(membersOf(payload));
    return { at: JSON.parse(at) as string[], of: membersIn(of) };
  },
});

/** Values are `StoredText`s, and lists and objects of them. A value that was read is a `StoredText`, or an array of them if it is a list. */
export const createTextCodec = (): ValueCodec => ({
  encode: (value, name) => storedTextOf(value, new TreeEncoder({ name })),
  decode: stored,
  split,
  join: (ref, lookup, cache) => {
    const value = assemble(ref, lookup, readerOf(cache));
    if (Array.isArray(value)) return value;
    const text = value instanceof StoredText ? value : stored(storedTextOf(value, new TreeEncoder()));
    if (ref.startsWith('#')) cache?.remember(text, ref);
    return text.elements() ?? text;
  },
  hashesOf,
  toJson: (value, name) => wireTextOf(value, new TreeEncoder({ name })) ?? 'null',
});
