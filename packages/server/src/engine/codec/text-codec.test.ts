import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Blob, Lookup } from './blob.ts';
import { RefCache } from './ref-cache.ts';
import { StoredText } from './stored-text.ts';
import { createTextCodec } from './text-codec.ts';
import { joinWire } from './wire.ts';
import { anyValue, assertSame, jsonValue, testCodec } from '../../../test/codec-values.ts';

const codec = createTextCodec();

const lookupIn = (blobs: readonly Blob[]): Lookup => {
  const map = new Map(blobs.map((blob) => [blob.hash, blob]));
  return (hash) => map.get(hash);
};

const restored = (value: unknown): unknown => {
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

describe('a stored text', () => {
  test('is restored as it was by split() and join()', () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = testCodec.encode(value);
        expect(codec.encode(restored(new StoredText(text)))).toBe(text);
      }),
      { numRuns: 40 },
    );
  });

  test('is split into blobs that JavaScript graphs can read, and the other way round', () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = testCodec.encode(value);
        const byText = codec.split(new StoredText(text));
        assertSame(testCodec.join(byText.ref, lookupIn(byText.blobs)), testCodec.decode(text));
        const byValue = testCodec.split(value);
        assertSame(
          testCodec.decode(codec.encode(codec.join(byValue.ref, lookupIn(byValue.blobs)))),
          testCodec.join(byValue.ref, lookupIn(byValue.blobs)),
        );
      }),
      { numRuns: 40 },
    );
  });

  test('is split as the list of its elements', () => {
    fc.assert(
      fc.property(fc.array(jsonValue, { maxLength: 60, size: 'max' }), (list) => {
        const texts = list.map((part) => new StoredText(testCodec.encode(part)));
        const { ref } = codec.split(texts);
        expect(ref).toBe(codec.split(new StoredText(testCodec.encode(list))).ref);
        expect(ref).toBe(testCodec.split(list).ref);
      }),
    );
  });

  test('is for clients what its value is', () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = testCodec.encode(value);
        const expected = jsonOr(() => testCodec.toJson(value));
        expect(jsonOr(() => codec.toJson(new StoredText(text)))).toEqual(expected);
        const { ref, blobs } = codec.split(new StoredText(text));
        expect(jsonOr(() => JSON.stringify(joinWire(ref, lookupIn(blobs))) ?? 'null')).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  test('may be a part of lists and objects of JavaScript', () => {
    const part = new StoredText('{"x":1.0,"when":{"$":"date","of":0}}');
    const value = { a: [part, undefined], $: part, none: undefined };
    expect(codec.encode(value)).toBe(
      `{"$":"object","of":{"a":[${part.text},{"$":"undefined"}],"$":${part.text},"none":{"$":"undefined"}}}`,
    );
    const wire = '{"x":1,"when":"1970-01-01T00:00:00.000Z"}';
    expect(codec.toJson(value)).toBe(`{"a":[${wire},null],"$":${wire}}`);
    expect(testCodec.toJson({ part })).toBe(`{"part":${wire}}`);
  });

  test.each(['1.0', '[1.0,-0.0,1e300]', `{"a":1.0,"b":[2.0],"c":"${'x'.repeat(1_100)}"}`])(
    'keeps its numbers as they are written: %s',
    (text) => {
      expect(codec.encode(restored(new StoredText(text)))).toBe(text);
      const list = Array.from({ length: 300 }, () => new StoredText(text));
      expect(codec.encode(restored(list))).toBe(`[${list.map(() => text).join(',')}]`);
    },
  );

  test('is an array after it was read, if it is a list', () => {
    const long = JSON.stringify('x'.repeat(100));
    for (const text of ['[]', '[1,2]', `[${long}]`, `[${Array.from({ length: 300 }, () => 7).join(',')}]`])
      expect(restored(new StoredText(text))).toBeInstanceOf(Array);
    expect(restored(new StoredText('{}'))).toBeInstanceOf(StoredText);
  });
});

describe('a list that grows', () => {
  const turn = (index: number) =>
    new StoredText(`{"$":"ai","py":1,"content":"${'what a wonderful world '.repeat(20)}${index}"}`);

  test('writes the blobs of new elements only', () => {
    const cache = new RefCache();
    const list = Array.from({ length: 400 }, (_, index) => turn(index));
    codec.split(list, cache);
    const { blobs } = codec.split([...list, turn(400)], cache);
    expect(blobs.filter(({ refs }) => refs === undefined)).toHaveLength(1);
  });

  test('is recognised after it was read', () => {
    const { ref, blobs } = codec.split(Array.from({ length: 100 }, (_, index) => turn(index)));
    const cache = new RefCache();
    const list = codec.join(ref, lookupIn(blobs), cache) as StoredText[];
    const again = codec.split([...list, turn(100)], cache);
    expect(again.blobs.filter(({ refs }) => refs === undefined)).toHaveLength(1);
  });
});
