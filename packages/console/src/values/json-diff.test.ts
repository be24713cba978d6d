import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoredPart } from '../stored/stored-part.ts';
import { diffValues } from './json-diff.ts';

describe('the changes between two values', () => {
  it('name the path of each difference', () => {
    const before = { messages: [{ id: 'a', content: 'x' }], plan: 'p', gone: 1 };
    const after = { messages: [{ id: 'a', content: 'y' }, { id: 'b' }], plan: 'p', fresh: true };
    expect(diffValues(before, after)).toEqual([
      { kind: 'changed', path: 'messages[0].content', before: 'x', after: 'y' },
      { kind: 'added', path: 'messages[1]', before: undefined, after: { id: 'b' } },
      { kind: 'removed', path: 'gone', before: 1, after: undefined },
      { kind: 'added', path: 'fresh', before: undefined, after: true },
    ]);
  });

  it('are one change where a list becomes an object', () => {
    expect(diffValues({ a: [] }, { a: {} })).toMatchObject([{ kind: 'changed', path: 'a' }]);
  });

  it('are none for equal values', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => diffValues(value, structuredClone(value)).length === 0));
  });

  it('are at most 500', () => {
    const many = (text: string) => Array.from({ length: 2_000 }, () => text);
    expect(diffValues(many('a'), many('b'))).toHaveLength(500);
  });

  it('do not read inherited properties', () => {
    expect(diffValues({}, JSON.parse('{"constructor": 1}'))).toMatchObject([
      { kind: 'added', path: 'constructor', before: undefined },
    ]);
  });
});

describe('the changes between values that are not in the page', () => {
  const part = (digest: string, length: number) =>
    new StoredPart({ threadId: 'thread', checkpointId: 'checkpoint' }, ['list'], {
      type: 'array',
      length,
      digest,
    });

  it('are none where their digests are equal', () => {
    expect(diffValues({ list: part('a', 3) }, { list: part('a', 3) })).toEqual([]);
  });

  it('are one change where their digests differ', () => {
    const [before, after] = [part('a', 3), part('b', 3)];
    expect(diffValues({ list: before }, { list: after })).toEqual([
      { kind: 'changed', path: 'list', before, after },
    ]);
  });

  it('name the elements by which a list has grown', () => {
    expect(diffValues({ list: part('a', 3) }, { list: part('b', 5) })).toMatchObject([
      { kind: 'changed', path: 'list' },
      { kind: 'added', path: 'list[3] to [4]', after: { from: 3 } },
    ]);
    expect(diffValues({ list: [1, 2] }, { list: part('b', 3) })).toMatchObject([
      { kind: 'changed', path: 'list' },
      { kind: 'added', path: 'list[2]', after: { from: 2 } },
    ]);
  });
});
