import { HumanMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Blob, Lookup } from './blob.ts';
import { joinPartly, Unread, unreadIn } from './partial-wire.ts';
import { jsonValue, testCodec as codec } from '../../../test/codec-values.ts';
import { joinWire } from './wire.ts';

const message = fc.string({ maxLength: 100 }).map((content) => new HumanMessage({ content }));
const values = fc.oneof(
  fc.array(message, { maxLength: 80 }),
  fc.record({ messages: fc.array(message, { maxLength: 40 }), other: jsonValue, last: message }),
  jsonValue,
);

const lookupIn = (blobs: Blob[]): Lookup => {
  const map = new Map(blobs.map((blob) => [blob.hash, blob]));
  return (hash) => map.get(hash);
};

/** Blobs that have lists or members, and lists without blobs. */
const nodesOf = (blobs: Blob[]): Blob[] =>
  blobs.filter(({ refs = [], payload = '' }) => refs.length > 0 || payload.startsWith('['));

/** The value with the blobs that were not read. */
const completed = (value: unknown, lookup: Lookup): unknown => {
  if (value instanceof Unread) return joinWire(`#${value.hash}`, lookup);
  if (Array.isArray(value)) return value.map((part) => completed(part, lookup));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, completed(part, lookup)]));
};

describe('a value of which some blobs have been read', () => {
  it.each([
    ['all of them', (blobs: Blob[]) => blobs],
    ['only nodes', nodesOf],
    ['none', () => []],
  ])('has the others in the places of what was not read: %s', (_, read) => {
    fc.assert(
      fc.property(values, (value) => {
        const { ref, blobs } = codec.split(value);
        const lookup = lookupIn(blobs);
        const partly = joinPartly(ref, lookupIn(read(blobs)));
        expect(JSON.stringify(completed(partly, lookup))).toBe(JSON.stringify(joinWire(ref, lookup)));
        const missing = new Set(blobs.map(({ hash }) => hash));
        for (const { hash } of read(blobs)) missing.delete(hash);
        for (const hash of unreadIn(partly)) expect(missing).toContain(hash);
      }),
    );
  });

  it('has no list of which a node is missing', () => {
    const list = Array.from({ length: 100 }, (_, at) => `${at} ${'x'.repeat(100)}`);
    const { ref, blobs } = codec.split(list);
    const root = blobs.filter(({ hash }) => ref === `#${hash}`);
    expect(() => joinPartly(ref, lookupIn(root))).toThrow('a part of a list is missing');
  });
});
