import { describe, expect, it } from 'vitest';
import { JsonFault, JsonScanner, type Path } from './json-scanner.ts';

interface Found {
  path: Path;
  value: unknown;
}

const scan = (text: string, depth: number, chunk = text.length): Found[] => {
  const bytes = Buffer.from(text);
  const found: Found[] = [];
  const scanner = new JsonScanner({
    depthMax: depth,
    wants: (path) => path.length === depth,
    onValue: (path, start, end) =>
      found.push({ path, value: JSON.parse(bytes.subarray(start, end).toString()) as unknown }),
  });
  for (let at = 0; at < bytes.length; at += chunk) scanner.write(bytes.subarray(at, at + chunk));
  scanner.end();
  return found;
};

/** Every value at a depth, by JSON.parse. */
const expected = (value: unknown, depth: number, path: Path = []): Found[] => {
  if (path.length === depth) return [{ path, value }];
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((one, index): [number, unknown] => [index, one])
    : Object.entries(value);
  return entries.flatMap(([key, one]) => expected(one, depth, [...path, key]));
};

const sample = {
  json: {
    storage: { t1: { '': { a: ['b64==', null, -1.5e3], b: [] } }, 'ü "quoted" \\': {} },
    list: [[], {}, [1, [2, { deep: [true, false, null] }]], 'text \\" \n', ''],
    empty: '',
    number: 12,
  },
  meta: { v: 1, values: { 'a.b': ['undefined'] } },
};

describe('a scan of a JSON file', () => {
  const texts = [JSON.stringify(sample), JSON.stringify(sample, null, 2)];
  const cases = texts.flatMap((text) => [1, 2, 3, 7, 64, 1_000].map((chunk) => ({ text, chunk })));

  it.each(cases)('finds the values that JSON.parse finds, in chunks of $chunk bytes', ({ text, chunk }) => {
    for (const depth of [0, 1, 2, 3, 4, 5, 6])
      expect(scan(text, depth, chunk)).toEqual(expected(sample, depth));
  });

  it.each([
    ['{"a": 1', 7, 'the file ends in the middle'],
    ['', 0, 'the file ends in the middle'],
    ['{"a" 1}', 5, 'a colon is missing'],
    ['{"a": 1 "b": 2}', 8, 'a comma or } is missing'],
    ['[1 2]', 3, 'a comma or ] is missing'],
    ['[1}', 2, 'a comma or ] is missing'],
    ['{"a": }', 6, 'a value is missing'],
    ['{a: 1}', 1, 'a key is missing'],
    ['[1] [2]', 4, 'there is text after the end'],
    ['"text', 5, 'the file ends in the middle'],
    ['{"\\x": 1}', 4, 'a key is not valid'],
  ])('names the place of the fault in %s', (text, at, reason) => {
    const thrown = [1, 1_000].map((chunk) => {
      try {
        return scan(text, 1, chunk);
      } catch (error) {
        return error;
      }
    });
    for (const error of thrown) {
      expect(error).toBeInstanceOf(JsonFault);
      expect(error).toMatchObject({ at, message: reason });
    }
  });

  it('rejects values that are nested too deeply, without recursion', () => {
    expect(() => scan('['.repeat(1_000_000), 1)).toThrow('nested more than 10000 levels deep');
    const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
    expect(scan(`{"a":${deep}}`, 1)[0]?.path).toEqual(['a']);
  });

  it('rejects long keys', () => {
    expect(() => scan(`{"${'k'.repeat(70_000)}":1}`, 1)).toThrow('a key has more than 65536 bytes');
  });

  it('passes on keys of prototypes as keys', () => {
    expect(scan('{"__proto__":{"a":1},"constructor":{"b":2}}', 2)).toEqual([
      { path: ['__proto__', 'a'], value: 1 },
      { path: ['constructor', 'b'], value: 2 },
    ]);
  });
});
