import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '@svc/contract/problem';
import { acceptsStringified } from '../../test/properties/json.ts';
import { requestLimits } from './json-limits.ts';
import { parseStrictJson, parseStrictText } from './strict-json.ts';

const refusal = (input: string | Buffer): { code: string; message: string; loc: unknown } => {
  try {
    parseStrictJson(Buffer.from(input as string));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, message: error.message, loc: error.faults?.[0]?.loc };
  }
  throw new Error('the input was accepted');
};

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('strict JSON', () => {
  it('accepts everything that JSON.stringify can write, like JSON.parse', () => {
    fc.assert(acceptsStringified, { numRuns: 100 });
  });

  it('rejects exactly the syntax errors that JSON.parse rejects', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b\\n"',
      '"',
      '\\',
      '1',
      '-',
      '.5',
      'e',
      'true',
      'nul',
      ' ',
      '\t',
      'é',
      '\u0001',
      '\\u12',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        const text = tokens.join('');
        let parsed = true;
        try {
          JSON.parse(text);
        } catch {
          parsed = false;
        }
        const code = (() => {
          try {
            parseStrictText(text);
            return 'ok';
          } catch (error) {
            return error instanceof Problem ? error.code : 'thrown';
          }
        })();
        expect(code === 'bad_request').toBe(!parsed);
        expect(code).not.toBe('thrown');
      }),
      { numRuns: 5000 },
    );
  });

  it('finds a duplicate key at any place and in any spelling', () => {
    const duplicated = fc.tuple(
      fc.jsonValue({ stringUnit: 'grapheme' }),
      fc.array(fc.constantFrom('list', 'object'), { maxLength: 6 }),
    );
    fc.assert(
      fc.property(duplicated, ([value, wrappers]) => {
        let text = `{"x":${JSON.stringify(value).replaceAll('__proto__', '?')},"\\u0078":0}`;
        for (const wrapper of wrappers) text = wrapper === 'list' ? `[1,${text}]` : `{"k":"v","w":${text}}`;
        expect(refusal(text)).toMatchObject({
          code: 'invalid',
          message: expect.stringContaining('"x" twice'),
        });
      }),
    );
  });

  it('names the key and the path of a duplicate', () => {
    expect(refusal('{"metadata":{"list":[{},{"a":1,"b":{},"a":2}]}}')).toStrictEqual({
      code: 'invalid',
      message: 'body.metadata.list.1 has the key "a" twice',
      loc: ['body', 'metadata', 'list', 1],
    });
  });

  it.each([
    '{"__proto__":{"x":1}}',
    '{"a":[{"__proto__":null}]}',
    '{"\\u005f_proto__":1}',
    '{"_\\u005Fproto__":1}',
  ])('rejects the key __proto__ in %s', (text) => {
    expect(refusal(text)).toMatchObject({ code: 'invalid', message: expect.stringContaining('__proto__') });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('accepts __proto__ as a value, and other inherited names as own keys', () => {
    const value = parseStrictText('{"a":"__proto__","constructor":1,"toString":2}') as object;
    expect(value).toStrictEqual(JSON.parse('{"a":"__proto__","constructor":1,"toString":2}'));
    expect(Object.hasOwn(value, 'toString')).toBe(true);
  });

  const unstorable: [text: string, loc: (string | number)[]][] = [
    ['{"a":{"b":"x\\u0000"}}', ['body', 'a', 'b']],
    ['{"a":["\\ud800"]}', ['body', 'a', 0]],
    ['{"a":"\\udc00\\ud800"}', ['body', 'a']],
    ['{"a":"\\ud800\\n"}', ['body', 'a']],
    ['{"k\\u0000":1}', ['body']],
    ['{"in":{"\\udfff":1}}', ['body', 'in']],
    [`{"a":"${'long '.repeat(100)}\\u0000"}`, ['body', 'a']],
  ];
  it.each(unstorable.map((one) => [one[0].slice(0, 40), ...one] as const))(
    'rejects a character that cannot be stored: %s',
    (_, text, loc) => {
      expect(refusal(text)).toMatchObject({ code: 'invalid', loc });
    },
  );

  it('accepts every string below the paths that allow it', () => {
    const text = '{"in":{"a\\ud83d":["\\u0000"]},"list":[{"in":"\\udc00"}]}';
    expect(parseStrictText(text, undefined, ['in', 'list.*.in'])).toStrictEqual(JSON.parse(text));
    for (const anyText of [['in'], ['list'], ['in', 'list.*.out'], ['in.b', 'list']])
      expect(() => parseStrictText(text, undefined, anyText)).toThrow(/cannot be stored/);
    expect(() => parseStrictText('{"in\\u0000":1}', undefined, ['in'])).toThrow(/has a key/);
    expect(() => parseStrictText('{"in":{"a":"\\ud83d","a":1}}', undefined, ['in'])).toThrow(/twice/);
  });

  it('accepts all other escapes and complete surrogate pairs', () => {
    const text = '"\\ud83d\\ude00 \\u00e9\\u001b\\n\\"\\\\ \\u005f \\/"';
    expect(parseStrictText(text)).toBe(JSON.parse(text));
  });

  const inexact = [
    '1e400',
    '-1e400',
    '9007199254740993',
    '-9007199254740993',
    '1e-400',
    '1'.repeat(200_000),
    `0.${'1'.repeat(200_000)}`,
  ];
  it.each(inexact.map((literal) => [literal.slice(0, 30), literal]))(
    'rejects a number that would change: %s',
    (_, literal) => {
      expect(refusal(`{"n":[${literal}]}`)).toMatchObject({ code: 'invalid', loc: ['body', 'n', 0] });
    },
  );

  it.each([
    '9007199254740991',
    '9007199254740992',
    '0.30000000000000004',
    '1e308',
    '100000000000000000000',
    '0e5',
    '-0',
    '1.7976931348623157e308',
  ])('accepts the number %s', (literal) => {
    expect(parseStrictText(literal)).toBe(JSON.parse(literal));
  });

  it('accepts nesting up to the limit, and rejects one level more', () => {
    expect(parseStrictText(nested(100))).toBeDefined();
    expect(refusal(nested(101))).toMatchObject({ code: 'invalid' });
    expect(refusal('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000))).toMatchObject({ code: 'invalid' });
    expect(refusal('['.repeat(1_000_000))).toMatchObject({ code: 'invalid' });
  });

  it.each([
    ['a byte that is no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0x80, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
    ['a byte order mark', Buffer.from('\uFEFF{}')],
    ['only white space', Buffer.from('  ')],
  ])('rejects %s as unreadable', (_, bytes) => {
    expect(refusal(bytes)).toMatchObject({ code: 'bad_request' });
  });

  it('reports the position of a syntax error', () => {
    expect(refusal('{"a": 1,\n  b: 2}').message).toBe(
      'The body is not valid JSON: unexpected "b" at position 11 (line 2, column 3).',
    );
    expect(refusal('{"a":').message).toContain('it ends at position 5');
  });
});

describe('the limits of a body', () => {
  const limits = { ...requestLimits, valuesMax: 10, keysMax: 4 };
  const outcome = (text: string): string => {
    try {
      parseStrictText(text, limits);
      return 'accepted';
    } catch (error) {
      return error instanceof Problem ? `${error.code}: ${error.message}` : 'thrown';
    }
  };
  const tooManyValues = /^too_large: The body has more than 10 JSON values, the limit per request/;
  const tooManyKeys = /^too_large: The body has more than 4 JSON keys, the limit per request/;

  it.each([
    ['[1,2,3,4,5,6,7,8,9]', '[1,2,3,4,5,6,7,8,9,10]'],
    [' [ {}, [], {}, [], {}, [], {}, [], { } ] ', '[{},[],{},[],{},[],{},[],{},[ ]]'],
    ['[[[[[[[[[[]]]]]]]]]]', '[[[[[[[[[[1]]]]]]]]]]'],
    ['[["a,b","[{}]"],"\\"",null,true,{"a":[1]}]', '[["a,b","[{}]"],"\\"",null,true,{"a":[1,2]}]'],
    // The slow parser, which names what it rejects, counts the same.
    [String.raw`[1,2,3,4,5,6,7,8,"\u005f"]`, String.raw`[1,2,3,4,5,6,7,8,9,"\u005f"]`],
  ])('allow exactly that many values: %s', (at, over) => {
    expect(outcome(at)).toBe('accepted');
    expect(outcome(over)).toMatch(tooManyValues);
  });

  it.each([
    ['{"a":1,"b":{"c":{"d":2}}}', '{"a":1,"b":{"c":{"d":2}},"e":1}'],
    [String.raw`{"a":1,"b":2,"c":3,"\u005f":4}`, String.raw`{"a":1,"b":2,"c":3,"d":4,"\u005f":5}`],
  ])('allow exactly that many keys: %s', (at, over) => {
    expect(outcome(at)).toBe('accepted');
    expect(outcome(over)).toMatch(tooManyKeys);
  });

  it('reject before the rest is parsed', () => {
    expect(outcome(`[${'1,'.repeat(10)}this is no JSON`)).toMatch(tooManyValues);
  });

  it('count like a walk over the parsed value', () => {
    const count = (value: unknown): [values: number, keys: number] => {
      if (typeof value !== 'object' || value === null) return [1, 0];
      const inner = Object.values(value).map(count);
      const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
      return [
        1 + inner.reduce((sum, [values]) => sum + values, 0),
        keys + inner.reduce((sum, [, own]) => sum + own, 0),
      ];
    };
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'large' }), fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent).replaceAll('__proto__', 'proto');
        const [values, keys] = count(JSON.parse(text));
        const within = { ...requestLimits, valuesMax: values, keysMax: keys };
        expect(() => parseStrictText(text, within)).not.toThrow();
        expect(() => parseStrictText(text, { ...within, valuesMax: values - 1 })).toThrow(/JSON values/);
        if (keys > 0)
          expect(() => parseStrictText(text, { ...within, keysMax: keys - 1 })).toThrow(/JSON keys/);
      }),
    );
  });

  it('do not repeat large keys in their messages', () => {
    const key = 'k'.repeat(1_000_000);
    for (const text of [`{"${key}":{"a":1,"a":2}}`, `{"${key}":1,"${key}":2}`, `{"${key}":1e999}`]) {
      try {
        parseStrictText(text);
        throw new Error('it was accepted');
      } catch (error) {
        expect(JSON.stringify(error instanceof Problem ? error.faults : error).length).toBeLessThan(1_000);
      }
    }
  });
});
