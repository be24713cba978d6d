import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonTextError, parseJsonText } from './json-text.ts';

const accepts = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    // Only whether it throws matters.
    return false;
  }
};

describe('JSON of a config file', () => {
  it('has the positions of its keys', () => {
    const json = parseJsonText('\uFEFF{\n  "graphs": {\n    "a.b": ["x", {"y": 1}]\n  }\n}');
    expect(json.position(['graphs', 'a.b'])).toBe('3:5');
    expect(json.position(['graphs', 'a.b', 1, 'y'])).toBe('3:19');
    expect(json.position(['graphs', 'missing'])).toBe('2:3');
    expect(json.position([])).toBe('1:1');
  });

  const faulty = [
    ['{\n  // graphs\n}', '2:3', 'there is a comment', 'no comments'],
    ['{"a": 1, /* b */ "c": 2}', '1:10', 'there is a comment', 'no comments'],
    ['{"a": 1,\n}', '1:8', 'comma before the closing }', 'no trailing commas'],
    ['[1, 2,]', '1:6', 'comma before the closing ]', 'no trailing commas'],
    ["{'a': 1}", '1:2', 'a key in double quotes', 'double quotes'],
    ['{a: 1}', '1:2', 'a key in double quotes', 'near "a: 1}"'],
    ['{"a" 1}', '1:6', 'a colon is expected after "a"', 'near'],
    ['{"a": 1 "b": 2}', '1:9', 'a comma or } is expected', 'near'],
    ['{"a": ', '1:7', 'ends too early', 'Complete it'],
    ['', '1:1', 'ends too early', 'Complete it'],
    ['{"a": 1, "a": 2}', '1:10', 'the key "a" is there twice', 'Keep one'],
    ['{} {}', '1:4', 'text after the end', 'near'],
    ['{"a": undefined}', '1:7', 'a value is expected', 'near "undefined}"'],
    ['['.repeat(100_000), '1:202', 'nested deeper', 'near'],
  ] as const;
  it.each(faulty.map((one) => [one[0].slice(0, 30), ...one] as const))(
    '%j is rejected with the position and a remedy',
    (_, text, position, problem, remedy) => {
      let error: unknown;
      try {
        parseJsonText(text);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(JsonTextError);
      const { position: at, message, remedy: advice } = error as JsonTextError;
      expect(at).toBe(position);
      expect(message).toContain(problem);
      expect(advice).toContain(remedy);
    },
  );

  it('accepts what JSON.parse accepts, with any white space', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseJsonText(text).value).toEqual(JSON.parse(text));
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
        if (accepts(() => parseJsonText(text))) expect(accepts(() => JSON.parse(text))).toBe(true);
        // In one case the parser is stricter: it rejects duplicate keys.
        else if (accepts(() => JSON.parse(text))) expect(() => parseJsonText(text)).toThrow('is there twice');
      }),
      { numRuns: 1_000 },
    );
  });
});
