// Properties of the codec of texts. The test beside the codec checks them with few values, codec.slow.test.ts with many.
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Blob, Lookup } from '../../src/engine/codec/blob.ts';
import { StoredText } from '../../src/engine/codec/stored-text.ts';
import { createTextCodec } from '../../src/engine/codec/text-codec.ts';
import { joinWire } from '../../src/engine/codec/wire.ts';
import { anyValue, assertSame, jsonValue, testCodec } from '../codec-values.ts';

const codec = createTextCodec();

export const lookupIn = (blobs: readonly Blob[]): Lookup => {
  const map = new Map(blobs.map((blob) => [blob.hash, blob]));
  return (hash) => map.get(hash);
};

export const restored = (value: unknown): unknown => {
  const { ref, blobs } = codec.split(value);
  return codec.join(ref, lookupIn(blobs));
};

const jsonOr = (make: () => string): unknown => {
  try {
    return JSON.parse(make()) as unknown;
  } catch (error) {
    return (error as Error).name;
  }
};

const values = fc.oneof(
  anyValue,
  fc.array(anyValue, { maxLength: 40, size: 'max' }),
  fc.record({
    list: fc.array(jsonValue),
    other: anyValue,
    text: fc.string({ minLength: 1_100, maxLength: 1_200 }),
  }),
);

/** split() and join() restore the text. */
export const restoresTexts = fc.property(values, (value) => {
  const text = testCodec.encode(value);
  expect(codec.encode(restored(new StoredText(text)))).toBe(text);
});

/** The blobs of a text are those of its value: graphs of both languages read them. */
export const sharesBlobs = fc.property(values, (value) => {
  const text = testCodec.encode(value);
  const byText = codec.split(new StoredText(text));
  assertSame(testCodec.join(byText.ref, lookupIn(byText.blobs)), testCodec.decode(text));
  const byValue = testCodec.split(value);
  assertSame(
    testCodec.decode(codec.encode(codec.join(byValue.ref, lookupIn(byValue.blobs)))),
    testCodec.join(byValue.ref, lookupIn(byValue.blobs)),
  );
});

/** Clients get the same from a text as from its value. */
export const readsTextAsValue = fc.property(values, (value) => {
  const text = testCodec.encode(value);
  const expected = jsonOr(() => testCodec.toJson(value));
  expect(jsonOr(() => codec.toJson(new StoredText(text)))).toEqual(expected);
  const { ref, blobs } = codec.split(new StoredText(text));
  expect(jsonOr(() => JSON.stringify(joinWire(ref, lookupIn(blobs))) ?? 'null')).toEqual(expected);
});
