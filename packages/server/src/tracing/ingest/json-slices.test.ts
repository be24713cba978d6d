import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterSpace, itemsOf, membersOf } from './json-slices.ts';

const spaced = fc
  .tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', '\r\n '))
  .map(([value, indent]) => ({ value, text: JSON.stringify(value, null, indent) }));

describe('slices of JSON text', () => {
  it('of an object are its members with their original text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), spaced)), (members) => {
        const text = ` {\n${members.map(([name, { text: value }]) => `${JSON.stringify(name)} : ${value} `).join(',')}}`;
        const expected = new Map(members.map(([name, { text: value }]) => [name, value]));
        const found = [...membersOf(text, afterSpace(text, 0))].map(([name, slice]) => [
          name,
          text.slice(...slice),
        ]);
        expect(new Map(found as [string, string][])).toEqual(expected);
      }),
    );
  });

  it('of a list are its items with their original text', () => {
    fc.assert(
      fc.property(fc.array(spaced), (items) => {
        const text = `[ ${items.map(({ text: item }) => item).join('\n,')}]`;
        expect(itemsOf(text, 0).map((slice) => text.slice(...slice))).toEqual(items.map((item) => item.text));
      }),
    );
  });

  it('keep digits that JavaScript numbers lose', () => {
    const text = String.raw`{"\u0061":9007199254740993.10,"b":[1e400,"\\\""]}`;
    expect([...membersOf(text, 0)].map(([name, slice]) => [name, text.slice(...slice)])).toEqual([
      ['a', '9007199254740993.10'],
      ['b', String.raw`[1e400,"\\\""]`],
    ]);
  });
});
