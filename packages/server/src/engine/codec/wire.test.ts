import { readFileSync } from 'node:fs';
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectJsonOrRejection, readsStoredAsLive } from '../../../test/properties/codec.ts';
import { testCodec as codec } from '../../../test/codec-values.ts';

const wire = (value: unknown): unknown => JSON.parse(codec.toJson(value));

describe('what clients get', () => {
  test('is the same from storage as from the live value', () => {
    fc.assert(readsStoredAsLive, { numRuns: 150 });
  });

  test('is a flat message with every promised field', () => {
    expect(
      wire([new HumanMessage({ content: 'hi', id: '1' }), new AIMessage({ content: 'yo', id: '2' })]),
    ).toStrictEqual([
      {
        content: 'hi',
        additional_kwargs: {},
        response_metadata: {},
        type: 'human',
        name: null,
        id: '1',
        example: false,
      },
      {
        content: 'yo',
        additional_kwargs: {},
        response_metadata: {},
        type: 'ai',
        name: null,
        id: '2',
        example: false,
        tool_calls: [],
        invalid_tool_calls: [],
        usage_metadata: null,
      },
    ]);
  });

  test('has the additional fields of a tool message or a chunk', () => {
    const tool = new ToolMessage({
      content: '',
      tool_call_id: 'c',
      status: 'error',
      artifact: { at: new Date(0) },
    });
    expect(wire(tool)).toMatchObject({
      type: 'tool',
      tool_call_id: 'c',
      status: 'error',
      artifact: { at: '1970-01-01T00:00:00.000Z' },
    });
    const chunk = new AIMessageChunk({ content: '', tool_call_chunks: [{ name: 'f', args: '{', index: 0 }] });
    expect(wire(chunk)).toMatchObject({ type: 'ai', tool_call_chunks: [{ name: 'f', args: '{', index: 0 }] });
    expect(wire(new HumanMessage({ content: '', example: true } as never))).toMatchObject({ example: true });
  });

  test('is plain JSON for everything else', () => {
    const value = {
      gone: undefined,
      list: [undefined, Number.NaN, -0, () => 1],
      call: () => 1,
      map: new Map<unknown, unknown>([
        ['a', new Set([1])],
        [2, 'b'],
      ]),
      pairs: new Map([[{ k: 1 }, 2]]),
      bytes: new Uint8Array([1, 2, 3]),
      error: new TypeError('no'),
      url: new URL('http://localhost/'),
      $: 'user',
    };
    expect(wire(value)).toStrictEqual({
      list: [null, null, 0, null],
      map: { a: [1], 2: 'b' },
      pairs: [[{ k: 1 }, 2]],
      bytes: 'AQID',
      error: { name: 'TypeError', message: 'no' },
      url: 'http://localhost/',
      $: 'user',
    });
    expect(codec.toJson(undefined)).toBe('null');
  });

  test('does not change the value', () => {
    const value = { messages: [new HumanMessage('hi')], plain: { list: [1, undefined] } };
    const before = codec.encode(value);
    codec.toJson(value);
    expect(codec.encode(value)).toBe(before);
  });

  test('has the digits of a BigInt', () => {
    expect(wire({ total: 12_345_678_901_234_567_890n, boxed: [Object(-1n)] })).toEqual({
      total: '12345678901234567890',
      boxed: ['-1'],
    });
  });

  test('is JSON for every value that can be stored; other values are rejected before', () => {
    expectJsonOrRejection(200);
  });
});

test('reading for clients does not load LangChain', () => {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const source = readFileSync(new URL(file, import.meta.url), 'utf8');
    expect(source).not.toMatch(/^(?:import|export) (?!type)[^;]*'@langchain/m);
    for (const [, next] of source.matchAll(/^import (?!type)[^;]*'(\.\/[^']+)'/gm)) visit(next ?? '');
  };
  visit('./wire.ts');
  expect(seen.size).toBeGreaterThan(3);
});
