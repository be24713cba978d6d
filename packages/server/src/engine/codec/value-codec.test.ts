import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Command, Send } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { CodecError } from './codec-error.ts';
import { decodesValues } from '../../../test/properties/codec.ts';
import { anyValue, assertSame, jsonValue, testCodec as codec } from '../../../test/codec-values.ts';

const nested = (depth: number): unknown => {
  let value: unknown = 'end';
  for (let level = 0; level < depth; level++) value = { next: value };
  return value;
};

describe('a stored value', () => {
  test('is restored unchanged, for any type', () => {
    fc.assert(decodesValues, { numRuns: 200 });
  });

  test('is encoded as JSON encodes it, when JSON can represent it', () => {
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

  test('of an unknown class is restored as its own properties', () => {
    class Point {
      x = 1;
      when = new Date(5);
    }
    assertSame(codec.decode(codec.encode({ at: new Point() })), { at: { x: 1, when: new Date(5) } });
  });

  test('is the result of its toJSON()', () => {
    const money = { toJSON: () => ({ amount: 5n }) };
    assertSame(codec.decode(codec.encode({ money })), { money: { amount: 5n } });
  });

  test('restores messages without deriving fields from each other again', () => {
    using warn = vi.spyOn(console, 'warn');
    const sentMessage = new AIMessage({
      content: [{ type: 'text', text: 'hi' }],
      response_metadata: { output_version: 'v1' },
    });
    sentMessage.tool_calls = [];
    sentMessage.additional_kwargs = {
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const read = codec.decode(codec.encode(sentMessage)) as AIMessage;
    expect(Object.assign(read, { lc_kwargs: 0 })).toStrictEqual(Object.assign(sentMessage, { lc_kwargs: 0 }));
    expect(warn).not.toHaveBeenCalled();
  });

  test('omits fields that a new message has by default', () => {
    expect(codec.encode(new AIMessage({ content: 'hi', id: '1' }))).toBe(
      '{"$":"ai","id":"1","content":"hi"}',
    );
  });

  test('keeps an error although a field of it is cyclic or callable', () => {
    const error = Object.assign(new Error('refused'), { status: 503, retry: () => 1, request: {} as object });
    error.request = { error };
    const read = codec.decode(codec.encode(error)) as Error;
    expect(read).toMatchObject({ message: 'refused', status: 503 });
    expect(Object.keys(read)).toEqual(['status']);
  });

  test('that is a Send or a Command is restored as one', () => {
    const command = codec.decode(codec.encode(new Command({ resume: 1, goto: new Send('a', { x: 1 }) })));
    expect(command).toBeInstanceOf(Command);
    expect((command as Command).goto).toMatchObject([{ node: 'a', args: { x: 1 } }]);
    expect(((command as Command).goto as Send[])[0]).toBeInstanceOf(Send);
  });
});

describe('what JSON has no value for', () => {
  class Client {
    name = 'client';
    send = () => 1;
  }
  const restored = (value: unknown): unknown => {
    const { ref, blobs } = codec.split(value);
    const map = new Map(blobs.map((blob) => [blob.hash, blob]));
    const joined = codec.join(ref, (hash) => map.get(hash));
    expect(joined).toStrictEqual(codec.decode(codec.encode(value)));
    return joined;
  };
  const long = 'x'.repeat(2_000);
  test.each<[string, unknown, unknown]>([
    ['a function', [{ name: 'search', call: () => 1 }], [{ name: 'search' }]],
    ['a function in a large object', { long, call: () => 1 }, { long }],
    ['a symbol', { at: Symbol('s') }, {}],
    ['a field of a class', { client: new Client() }, { client: { name: 'client' } }],
    ['an element', [1, () => 1, Symbol('s'), 4], [1, null, null, 4]],
    ['a promise', { later: Promise.resolve(1) }, { later: {} }],
    ['a weak map', { weak: new WeakMap() }, { weak: {} }],
  ])('is left out: %s', (_, value, expected) => {
    expect(restored(value)).toStrictEqual(expected);
  });

  test('is left out of the artifact of a message, and of what a Send carries', () => {
    const tool = new ToolMessage({ content: 'x', tool_call_id: '1', artifact: { cb: () => 1, kept: 1 } });
    expect((restored([tool]) as ToolMessage[])[0]?.artifact).toEqual({ kept: 1 });
    expect((restored(new Send('a', { cb: () => 1, kept: 1 })) as Send).args).toEqual({ kept: 1 });
  });
});

describe('a value that cannot be stored', () => {
  const cycle: { list: unknown[] } = { list: [] };
  cycle.list.push({ up: cycle });
  test('has a cycle: it is rejected with its path', () => {
    const value = { a: cycle };
    expect(() => codec.encode(value)).toThrow(
      'value.a.list[0].up refers back to value.a: a cycle cannot be stored',
    );
    expect(() => codec.split(value)).toThrow(CodecError);
  });

  test('is nested deeper than 1,000 levels', () => {
    expect(codec.decode(codec.encode(nested(1000)))).toEqual(nested(1000));
    expect(() => codec.encode(nested(1001))).toThrow(/next\.next.* is nested more than 1000 levels deep/);
  });
});

test('in damaged or hostile text becomes an error, never an object of the class that it names', () => {
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
