import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
