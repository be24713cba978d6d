import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExtracts, partAt } from './extract-paths.ts';

const name = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => !/[.[\]]/.test(text));
const steps = fc.array(fc.oneof(name, fc.integer({ min: -20, max: 20 })), { maxLength: 6 });
const written = (list: (string | number)[]): string =>
  list.map((one) => (typeof one === 'string' ? `.${one}` : `[${one}]`)).join('');

describe('a path', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.constantFrom('values', 'metadata', 'config', 'interrupts'), steps, (root, list) => {
        expect(parseExtracts({ a: root + written(list) })).toEqual([{ alias: 'a', root, steps: list }]);
      }),
    );
  });

  it('finds the part that it names', () => {
    fc.assert(
      fc.property(steps, fc.jsonValue(), (list, part) => {
        const around = list.reduceRight<unknown>((inner, one) => {
          if (typeof one === 'string') return Object.fromEntries([[one, inner]]);
          const length = one < 0 ? -one : one + 1;
          return Array.from({ length }, (_, at) => (at === (one < 0 ? 0 : one) ? inner : 'other'));
        }, part);
        expect(partAt(around, list)).toEqual(part);
      }),
    );
  });

  it.each(['status', 'value.a', 'values.', 'values..a', 'values[a]', 'values[1', 'values a', '', '$.values'])(
    'is not %j',
    (path) => {
      expect(() => parseExtracts({ a: path })).toThrow(/is not a path/);
    },
  );

  it('that leads nowhere finds null', () => {
    const value = { list: [1], text: 'abc', nothing: null };
    for (const path of [
      'list[1]',
      'list[-2]',
      'list.length',
      'text[0]',
      'text.length',
      'nothing.a',
      '__proto__',
      'constructor',
    ])
      expect(partAt(value, parseExtracts({ a: `values.${path}` })[0]?.steps ?? [])).toBeNull();
  });
});
