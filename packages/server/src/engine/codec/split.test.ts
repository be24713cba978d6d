import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { restoresStates, restoresValues, Space } from '../../../test/properties/codec.ts';
import { RefCache } from './ref-cache.ts';
import { assertSame, testCodec as codec } from '../../../test/codec-values.ts';

const turn = (index: number): BaseMessage => {
  const fields = { content: `${index} `.padEnd(500, 'what a wonderful world '), id: `message-${index}` };
  return index % 2 === 0 ? new HumanMessage(fields) : new AIMessage(fields);
};

describe('split() and join()', () => {
  test('restore any value', () => {
    fc.assert(restoresValues, { numRuns: 150 });
  });

  test('restore every state of a list that a graph edits and mutates in one session', () => {
    fc.assert(restoresStates, { numRuns: 3 });
  });

  test('name a list by its content only, whatever was stored before', () => {
    const cache = new RefCache();
    const space = new Space();
    const list: BaseMessage[] = [];
    for (let index = 0; index < 150; index++) {
      list.push(turn(index));
      expect(space.put([...list], cache)).toBe(codec.split(list).ref);
    }
  });

  test('detect a change deep inside an element that is the same object', () => {
    const cache = new RefCache();
    const space = new Space();
    const list = Array.from({ length: 20 }, (_, index) => ({
      index,
      deep: { text: 'x'.repeat(60), tags: ['a'] },
    }));
    const before = space.put(list, cache);
    expect(space.put(list, cache)).toBe(before);
    list[3]?.deep.tags.push('b');
    const after = space.put(list, cache);
    expect(after).not.toBe(before);
    assertSame(space.get(after), list);
  });

  test('write nothing for a list that has not changed', () => {
    const list = Array.from({ length: 400 }, (_, index) => turn(index));
    const cache = new RefCache();
    codec.split(list, cache);
    expect(codec.split([...list], cache).blobs.length).toBeLessThanOrEqual(1);
  });

  test('recognize lists that were joined', () => {
    const space = new Space();
    const ref = space.put(Array.from({ length: 100 }, (_, index) => turn(index)));
    const cache = new RefCache();
    const list = space.get(ref, cache) as BaseMessage[];
    const { blobs } = codec.split([...list, turn(100)], cache);
    expect(blobs.filter((blob) => blob.refs === undefined)).toHaveLength(1);
  });

  test('store 200 turns of two messages, all 400 states, in at most twice the bytes of the messages', () => {
    const space = new Space();
    const cache = new RefCache();
    let list: BaseMessage[] = [];
    let bytes = 0;
    for (let index = 0; index < 400; index++) {
      list = [...list, turn(index)];
      bytes += codec.encode(list[index]).length;
      space.put(list, cache);
    }
    expect(space.bytes).toBeLessThanOrEqual(2 * bytes);
  });

  test('rewrite only the key of a large object that changed', () => {
    const space = new Space();
    const files = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`/${index}.md`, `${index}`.repeat(1000)]),
    );
    const ref = space.put({ ...files, '/7.md': 'new' });
    const changed = { ...files, '/8.md': 'newer'.repeat(20) };
    const middle = space.bytes;
    space.put(changed);
    expect(space.bytes - middle).toBeLessThan(4000);
    expect(middle).toBeGreaterThan(50_000);
    assertSame(space.get(ref), { ...files, '/7.md': 'new' });
  });

  test('keep a long list of scalars in few blobs', () => {
    const { blobs } = codec.split(Array.from({ length: 10_000 }, (_, index) => index));
    expect(blobs.length).toBeLessThan(60);
  });

  test('inline what is small', () => {
    expect(codec.split({ a: 1 })).toEqual({ ref: '={"a":1}', blobs: [] });
    expect(codec.split([1, 'two', undefined])).toEqual({ ref: '=[1,"two",{"$":"undefined"}]', blobs: [] });
    expect(codec.split([])).toEqual({ ref: '=[]', blobs: [] });
  });
});

test('throw an error that names a missing blob', () => {
  const { ref } = codec.split([turn(1)]);
  expect(() => codec.join(ref, () => undefined)).toThrow(`blob ${codec.hashesOf(ref)[0]} is missing`);
  expect(() => codec.join('?', () => undefined)).toThrow('"?" is not a reference');
});
