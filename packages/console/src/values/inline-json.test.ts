import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inlineJson } from './inline-json.ts';

describe('JSON in a line', () => {
  it('is that of JSON.stringify for short values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(text.length <= 200);
        expect(inlineJson(JSON.parse(text), 200)).toBe(text);
      }),
    );
  });

  it('is cut with an ellipsis', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(30), (value, charsMax) => {
        expect(inlineJson(value, charsMax).length).toBeLessThanOrEqual(charsMax + 1);
      }),
    );
    expect(inlineJson(['a', 'b'], 5)).toBe('["a",…');
  });

  it('of a value nested 100,000 deep does not exhaust the stack', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(inlineJson(deep, 120)).toBe(`${'['.repeat(120)}…`);
  });
});
