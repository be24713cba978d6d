import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countJson } from './count-json.ts';
import { ingestLimits, JsonBudget } from './json-limits.ts';
import { type JsonPlace, placeOf } from './json-places.ts';

const placesOf = (text: string, markedLevels: number): JsonPlace => {
  const marks: number[] = [];
  countJson(text, new JsonBudget(ingestLimits), { marks, markedLevels });
  return placeOf(text, marks);
};

const textsIn = (text: string, { inner }: JsonPlace): [string | number, string][] =>
  [...inner].map(([name, { start, end }]) => [name, text.slice(start, end)]);

const spaced = fc
  .tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t', '\r\n '))
  .map(([value, indent]) => ({ value, text: JSON.stringify(value, null, indent) }));

describe('places in JSON text', () => {
  it('have the original text of members', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), spaced)), (members) => {
        const text = ` {\n${members.map(([name, { text: value }]) => `${JSON.stringify(name)} : ${value} `).join(',')}}`;
        const expected = new Map(members.map(([name, { text: value }]) => [name, value]));
        expect(new Map(textsIn(text, placesOf(text, 1)))).toEqual(expected);
      }),
    );
  });

  it('have the original text of items', () => {
    fc.assert(
      fc.property(fc.array(spaced), (items) => {
        const text = `[ ${items.map(({ text: item }) => item).join('\n,')}]`;
        expect(textsIn(text, placesOf(text, 1))).toEqual(items.map(({ text: item }, index) => [index, item]));
      }),
    );
  });

  it('are found on all levels that were marked', () => {
    const valueAt = (text: string, { start, end, inner }: JsonPlace, levels: number): unknown => {
      const whole = JSON.parse(text.slice(start, end)) as unknown;
      if (levels === 0 || typeof whole !== 'object' || whole === null) {
        expect(inner.size).toBe(0);
        return whole;
      }
      const parts = [...inner].map(([name, place]): [string | number, unknown] => [
        name,
        valueAt(text, place, levels - 1),
      ]);
      return Array.isArray(whole) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
    };
    fc.assert(
      fc.property(spaced, fc.nat(5), ({ text }, levels) => {
        // Not the value itself: the text of -0 is 0.
        expect(valueAt(text, placesOf(text, levels), levels)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keep digits that JavaScript numbers lose', () => {
    const text = String.raw`{"\u0061":9007199254740993.10,"b":[1e400,"\\\""]}`;
    expect(textsIn(text, placesOf(text, 1))).toEqual([
      ['a', '9007199254740993.10'],
      ['b', String.raw`[1e400,"\\\""]`],
    ]);
  });
});
