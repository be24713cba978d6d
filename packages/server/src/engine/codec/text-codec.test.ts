import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RefCache } from './ref-cache.ts';
import { StoredText } from './stored-text.ts';
import { createTextCodec } from './text-codec.ts';
import { jsonValue, testCodec } from '../../../test/codec-values.ts';
import {
  lookupIn,
  readsTextAsValue,
  restored,
  restoresTexts,
  sharesBlobs,
} from '../../../test/properties/text-codec.ts';

const codec = createTextCodec();

describe('a stored text', () => {
  test('is restored as it was by split() and join()', () => {
    fc.assert(restoresTexts, { numRuns: 40 });
  });

  test('is split into blobs that JavaScript graphs can read, and the other way round', () => {
    fc.assert(sharesBlobs, { numRuns: 40 });
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
    fc.assert(readsTextAsValue, { numRuns: 40 });
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
