import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Command, Send } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { CodecError } from './codec-error.ts';
import { anyValue, assertSame, jsonValue, testCodec as codec } from './test-values.ts';

const nested = (depth: number): unknown => {
  let value: unknown = 'end';
  for (let level = 0; level < depth; level++) value = { next: value };
  return value;
};

describe('a stored value', () => {
  test('comes back as it was, whatever it is made of', () => {
    fc.assert(
      fc.property(anyValue, (value) => assertSame(codec.decode(codec.encode(value)), value)),
      { numRuns: 1500 },
    );
  });

  test('is written as JSON itself writes it where JSON can hold it', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const json = JSON.stringify(value);
        fc.pre(!json.includes('"$":'));
        fc.pre(!hasNegativeZero(value));
        expect(codec.encode(value)).toBe(json);
      }),
    );
  });

  test('is text without NUL or lone surrogates', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const text = codec.encode(value);
        expect(text.includes('\u0000')).toBe(false);
        expect(text).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  test('may be a string of 5 MB', () => {
    const big = '\u0000é"\ud800'.repeat(1_250_000);
    expect(codec.decode(codec.encode({ big }))).toStrictEqual({ big });
  });

  test.each(['lc', '$', '__proto__', 'constructor', 'toString'])('keeps the key %s as data', (key) => {
    const value = JSON.parse(
      `{${JSON.stringify(key)}:{"polluted":1},"lc":1,"type":"constructor","id":["langchain_core","x"]}`,
    );
    const read = codec.decode(codec.encode(value)) as Record<string, unknown>;
    assertSame(read, value);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('of a class that is not known comes back as its own properties', () => {
    class Point {
      x = 1;
      when = new Date(5);
    }
    assertSame(codec.decode(codec.encode({ at: new Point() })), { at: { x: 1, when: new Date(5) } });
  });

  test('is what its toJSON says', () => {
    const money = { toJSON: () => ({ amount: 5n }) };
    assertSame(codec.decode(codec.encode({ money })), { money: { amount: 5n } });
  });

  test('makes messages without deriving fields from each other again', () => {
    using warn = vi.spyOn(console, 'warn');
    const said = new AIMessage({
      content: [{ type: 'text', text: 'hi' }],
      response_metadata: { output_version: 'v1' },
    });
    said.tool_calls = [];
    said.additional_kwargs = {
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const read = codec.decode(codec.encode(said)) as AIMessage;
    expect(Object.assign(read, { lc_kwargs: 0 })).toStrictEqual(Object.assign(said, { lc_kwargs: 0 }));
    expect(warn).not.toHaveBeenCalled();
  });

  test('leaves out what a new message has anyway', () => {
    expect(codec.encode(new AIMessage({ content: 'hi', id: '1' }))).toBe(
      '{"$":"ai","id":"1","content":"hi"}',
    );
  });

  test('keeps a cyclic or callable field of an error from hiding the error', () => {
    const error = Object.assign(new Error('refused'), { status: 503, retry: () => 1, request: {} as object });
    error.request = { error };
    const read = codec.decode(codec.encode(error)) as Error;
    expect(read).toMatchObject({ message: 'refused', status: 503 });
    expect(Object.keys(read)).toEqual(['status']);
  });

  test('that was a Send or a Command is one again', () => {
    const command = codec.decode(codec.encode(new Command({ resume: 1, goto: new Send('a', { x: 1 }) })));
    expect(command).toBeInstanceOf(Command);
    expect((command as Command).goto).toMatchObject([{ node: 'a', args: { x: 1 } }]);
    expect(((command as Command).goto as Send[])[0]).toBeInstanceOf(Send);
  });
});

describe('a value that cannot be stored', () => {
  const tool = new ToolMessage({ content: 'x', tool_call_id: '1', artifact: { cb: () => 1 } });
  const cycle: { list: unknown[] } = { list: [] };
  cycle.list.push({ up: cycle });
  test.each([
    [
      'a function',
      { messages: [0, tool] },
      'value.messages[1].artifact.cb is a function, which cannot be stored',
    ],
    ['a symbol', [{ 'a b': Symbol('s') }], 'value[0]["a b"] is a symbol, which cannot be stored'],
    [
      'a promise',
      { later: Promise.resolve() },
      'value.later is a Promise, which cannot be stored: await it first',
    ],
    ['a cycle', { a: cycle }, 'value.a.list[0].up refers back to value.a: a cycle cannot be stored'],
  ])('is refused with its place: %s', (_, value, reason) => {
    expect(() => codec.encode(value)).toThrow(reason);
    expect(() => codec.split(value)).toThrow(CodecError);
  });

  test('is nested deeper than 1,000 levels', () => {
    expect(codec.decode(codec.encode(nested(1000)))).toEqual(nested(1000));
    expect(() => codec.encode(nested(1001))).toThrow(/next\.next.* is nested more than 1000 levels deep/);
  });
});

test('a damaged or hostile text becomes an error, never an object of a class it names', () => {
  expect(() => codec.decode('{"$":"constructor","of":1}')).toThrow('the tag "constructor" is unknown');
  expect(() => codec.decode('{"$":"bytes","kind":"Function","of":""}')).toThrow('unknown kind');
  const text =
    '{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"x"}}';
  expect(codec.decode(text)).not.toBeInstanceOf(HumanMessage);
});

function hasNegativeZero(value: unknown): boolean {
  if (Object.is(value, -0)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNegativeZero);
}
