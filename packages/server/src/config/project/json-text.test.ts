import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonText } from './json-text.ts';

const isValid = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Whether it throws is the result.
    return false;
  }
};

const mistakesOf = (text: string) => {
  const json = parseJsonText(text);
  return 'mistakes' in json ? json.mistakes : [];
};

const readingOf = (text: string) => {
  const json = parseJsonText(text);
  if ('mistakes' in json) throw new Error('is not JSON');
  return json;
};

describe('JSON of a config file', () => {
  it('has the positions of its keys', () => {
    const json = readingOf('\uFEFF{\n  "graphs": {\n    "a.b": ["x", {"y": 1}]\n  }\n}');
    expect(json.position(['graphs', 'a.b'])).toBe('3:5');
    expect(json.position(['graphs', 'a.b', 1])).toBe('3:18');
    expect(json.position(['graphs', 'a.b', 1, 'y'])).toBe('3:19');
    expect(json.position(['graphs', 'missing'])).toBe('2:3');
    expect(json.position([])).toBe('1:1');
  });

  it.each([
    ['a comment', '{\n  // graphs\n}', '2:3', 'there is a comment', 'Remove'],
    ['a block comment', '{"a": 1, /* b */ "c": 2}', '1:10', 'there is a comment', 'Remove'],
    ['a trailing comma', '{"a": 1,\n}', '2:1', 'a key in double quotes', 'no trailing commas'],
    ['a trailing comma of a list', '[1, 2,]', '1:7', 'a value is expected', 'no trailing commas'],
    ['single quotes', "{'a': 1}", '1:2', 'not JSON', 'double quotes'],
    ['a bare key', '{a: 1}', '1:2', 'not JSON', 'near "a: 1}"'],
    ['a missing colon', '{"a" 1}', '1:6', 'a colon is expected', 'near'],
    ['a missing comma', '{"a": 1 "b": 2}', '1:9', 'a comma is expected', 'near'],
    ['a missing value', '{"a": ', '1:7', 'a value is expected', 'ends too early'],
    ['nothing', '', '1:1', 'a value is expected', 'ends too early'],
    ['a key that occurs twice', '{"a": 1, "a": 2}', '1:10', 'the key "a" occurs twice', 'Keep one'],
    ['two values', '{} {}', '1:4', 'text after the end', 'near'],
    ['undefined', '{"a": undefined}', '1:7', 'not JSON', 'near "undefined}"'],
    ['an open text', '{"a": "x', '1:7', 'no closing double quote', 'near'],
    ['100,000 levels', '['.repeat(100_000), '1:1', 'nested too deeply', 'fewer levels'],
  ])('is rejected for %s', (_name, text, where, problem, remedy) => {
    const [mistake] = mistakesOf(text);
    expect(mistake?.where).toBe(where);
    expect(mistake?.problem).toContain(problem);
    expect(mistake?.remedy).toContain(remedy);
  });

  it('reports all mistakes, one for each line', () => {
    const text = `{\n  "graphs": ,\n  // comment\n  "env": {"A": 1, "A": 2}\n  "port": 1\n}`;
    expect(mistakesOf(text).map(({ where, problem }) => `${where} ${problem}`)).toEqual([
      '2:13 a value is expected here',
      '3:3 there is a comment, and JSON has none',
      '5:3 a comma is expected here',
      '4:19 the key "A" occurs twice',
    ]);
  });

  it('accepts what JSON.parse accepts, with any white space', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(readingOf(text).value).toEqual(JSON.parse(text));
      }),
    );
  });

  it('rejects what JSON.parse rejects, for any damage', () => {
    const damaged = fc
      .tuple(
        fc.json({ maxDepth: 3 }),
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', ']', '\\', '\u0000', '-', '.', 'e', '0', ' '),
      )
      .map(
        ([text, at, character]) =>
          text.slice(0, at % (text.length + 1)) + character + text.slice((at % (text.length + 1)) + 1),
      );
    fc.assert(
      fc.property(damaged, (text) => {
        const mistakes = mistakesOf(text);
        if (mistakes.length === 0) expect(isValid(text)).toBe(true);
        // JSON.parse accepts a key that occurs twice.
        else if (isValid(text)) expect(mistakes[0]?.problem).toContain('occurs twice');
      }),
      { numRuns: 5_000 },
    );
  });
});
