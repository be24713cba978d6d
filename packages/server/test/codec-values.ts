// Random values of every kind that a graph may return, and an equality that compares details that JSON would lose. For tests.
import { deepStrictEqual } from 'node:assert/strict';
import * as documents from '@langchain/core/documents';
import * as messages from '@langchain/core/messages';
import * as langgraph from '@langchain/langgraph';
import * as checkpoint from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { setOwn } from '../src/engine/codec/tagged.ts';
import { createCodec } from '../src/engine/codec/value-codec.ts';

export const testCodec = createCodec({ messages, langgraph, checkpoint, documents });

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme' }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\u0000', '\ud800', 'a\udc00b', '"$"', '{"$":"bigint","of":"1"}', '\u2028'),
  },
  { weight: 1, arbitrary: fc.nat(2000).map((length) => 'lorem '.repeat(length).slice(0, length)) },
);

const key = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 8 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '__proto__',
      'constructor',
      'prototype',
      'lc',
      '$',
      'of',
      'at',
      'kwargs',
      'own',
      'id',
      'type',
      'hasOwnProperty',
      '7',
      'toString',
    ),
  },
);

const record = (value: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> =>
  fc.array(fc.tuple(key, value), { maxLength: 6 }).map((entries) => {
    const object: Record<string, unknown> = {};
    for (const [name, part] of entries) setOwn(object, name, part);
    return object;
  });

/** Values that JSON can represent, including the finest differences. */
const json = fc.letrec<{ value: unknown; record: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      text,
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    tie('record'),
  ),
  record: record(tie('value')),
}));

export const jsonValue = json.value;

/** Objects with the usual prototype. */
const fields = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;

const kwargs = fc.oneof(fc.constant({}), json.record);
const content = fc.oneof(text, fc.array(fields({ type: fc.constant('text'), text }), { maxLength: 2 }));
const base = {
  content,
  id: fc.option(fc.uuid(), { nil: undefined }),
  name: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  additional_kwargs: kwargs,
  response_metadata: kwargs,
};
const calls = fc.array(
  fields({ id: fc.uuid(), name: fc.string(), args: json.record, type: fc.constant('tool_call' as const) }),
  {
    maxLength: 2,
  },
);
const usage = fc.option(fields({ input_tokens: fc.nat(), output_tokens: fc.nat(), total_tokens: fc.nat() }), {
  nil: undefined,
});

export const message = (artifact: fc.Arbitrary<unknown>): fc.Arbitrary<messages.BaseMessage> =>
  fc.oneof(
    fc
      .record({ ...base, example: fc.constantFrom(true, undefined) })
      .map((fields) => new messages.HumanMessage(fields as never)),
    fields(base).map((fields) => new messages.HumanMessageChunk(fields as never)),
    fc
      .record({ ...base, tool_calls: calls, usage_metadata: usage })
      .map((fields) => new messages.AIMessage(fields as never)),
    fields({ ...base, usage_metadata: usage }).map(
      (fields) =>
        new messages.AIMessageChunk({
          ...fields,
          tool_call_chunks: [{ type: 'tool_call_chunk', name: 'f', args: '{"a":', index: 0, id: 'c1' }],
        } as never),
    ),
    fields(base).map((fields) => new messages.SystemMessage(fields as never)),
    fc
      .record({
        ...base,
        tool_call_id: fc.string(),
        artifact,
        status: fc.constantFrom('success', 'error', undefined),
      })
      .map((fields) => new messages.ToolMessage(fields as never)),
    fields({ ...base, role: fc.string() }).map((fields) => new messages.ChatMessage(fields as never)),
    fc
      .record({ ...base, name: fc.string({ minLength: 1 }) })
      .map((fields) => new messages.FunctionMessage(fields as never)),
    fc.uuid().map((id) => new messages.RemoveMessage({ id })),
    fc
      .tuple(content, text)
      .map(([source, extra]) => Object.assign(new messages.AIMessage({ content: source }), { extra })),
  );

const bytes = fc.uint8Array({ maxLength: 80 });

const special = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.constantFrom(undefined, Number.NaN, Infinity, -Infinity, -0),
    fc.date({ noInvalidDate: false }),
    bytes,
    bytes.map((part) => Buffer.from(part)),
    bytes.map((part) => new Uint8Array(part).buffer),
    fc.float32Array({ maxLength: 4 }),
    fc.bigInt64Array({ maxLength: 4 }),
    fc.constantFrom(/a\/"$/giu, new RegExp('', 'y')).map((regexp) => new RegExp(regexp)),
    fc.webUrl().map((url) => new URL(url)),
    fc.array(fc.tuple(value, value), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(value, { maxLength: 3 }).map((values) => new Set(values)),
    fc.tuple(text, value).map(([reason, cause]) => new Error(reason, cause === undefined ? {} : { cause })),
    fc.tuple(text, jsonValue).map(([reason, detail]) => Object.assign(new RangeError(reason), { detail })),
    fc.tuple(text, value).map(([node, args]) => Object.assign(new langgraph.Send(node, {}), { args })),
    record(value).map((update) => new langgraph.Command({ update, goto: 'next', graph: 'parent' })),
    value.map((part) => new langgraph.Overwrite(part)),
    value.map((part) => new checkpoint.DeltaSnapshot(part)),
    fc
      .tuple(text, json.record)
      .map(([pageContent, metadata]) => new documents.Document({ pageContent, metadata })),
  );

const any = fc.letrec<{ value: unknown; special: unknown }>((tie) => ({
  special: special(tie('value')),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(jsonValue, fc.bigInt(), text),
    tie('special'),
    message(tie('value')),
    fc.array(tie('value'), { maxLength: 4 }),
    record(tie('value')),
  ),
}));

export const anyValue = any.value;

class Point {
  readonly x: unknown;
  readonly #hidden = 1;

  constructor(x: unknown) {
    this.x = x;
  }

  get y(): number {
    return this.#hidden;
  }
}

const circle = (value: unknown): object => {
  const list: unknown[] = [value];
  list.push({ back: list });
  return list;
};

const sparse = (value: unknown): unknown[] => {
  const list: unknown[] = [];
  list[3] = value;
  list.length = 6;
  return list;
};

const nested = (value: unknown): unknown => {
  let outer = value;
  for (let depth = 0; depth < 1_200; depth++) outer = [outer];
  return outer;
};

function* endless(): Generator<number> {
  for (;;) yield 1;
}

/** Values that a graph may return by mistake; many of them cannot be stored. */
export const oddValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    anyValue,
    fc
      .constantFrom<() => unknown>(
        () => () => 1,
        () => Symbol('s'),
        () => Object(1n),
        () => Object('boxed'),
        () => Object(Symbol('boxed')),
        () => Promise.resolve(1),
        () => new WeakMap(),
        () => new WeakSet(),
        () => new WeakRef({}),
        () => endless(),
        () => new Map([[1, 2]]).entries(),
        () => new Date(Number.NaN),
        () => new Proxy({ a: 1 }, {}),
        () => new SharedArrayBuffer(4),
        () => new DataView(new ArrayBuffer(4)),
        () => Object.create(null),
        () => globalThis.URLSearchParams && new URLSearchParams('a=1'),
        () => new Intl.NumberFormat(),
        () => Object.assign(new Error('e'), { socket: { on: () => 1 }, self: globalThis }),
        () => new AggregateError([new Error('inner'), 1n], 'outer'),
        () => ({ toJSON: () => 1n }),
      )
      .map((make) => make()),
    tie('value').map((value) => new Point(value)),
    tie('value').map(circle),
    tie('value').map(sparse),
    tie('value').map(nested),
    tie('value').map((value) => ({ toJSON: () => value })),
    tie('value').map((value) => new Map([[value, value]])),
    tie('value').map((value) => new Set([value])),
    fc.array(tie('value'), { maxLength: 3 }),
    record(tie('value')),
  ),
})).value;

/** The current constructor arguments of a message. Absent and undefined are equal there. */
const dictionary = (source: messages.BaseMessage): object => {
  const live = source as unknown as Record<string, unknown>;
  const given = Object.entries(source.lc_kwargs as Record<string, unknown>);
  const now = given.map(([name, part]): [string, unknown] => [name, name in source ? live[name] : part]);
  return Object.fromEntries(now.filter(([, part]) => part !== undefined));
};

const comparable = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(comparable);
  if (value instanceof Map)
    return new Map([...value].map(([name, part]) => [comparable(name), comparable(part)]));
  if (value instanceof Set) return new Set([...value].map(comparable));
  if (value instanceof Error) {
    const { name, message: reason, cause } = value;
    return {
      error: true,
      name,
      reason,
      cause: comparable(cause),
      own: Object.assign({}, value),
      class: Object.getPrototypeOf(value),
    };
  }
  const isMessage = messages.BaseMessage.isInstance(value);
  const out: Record<string, unknown> = isMessage ? { dict: comparable(dictionary(value)) } : {};
  const prototype: unknown = Object.getPrototypeOf(value);
  // Two invalid dates are equal here; deepStrictEqual of Node 20 considers them different.
  if (value instanceof Date && Number.isNaN(value.getTime())) return { class: prototype, time: 'invalid' };
  if (
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer ||
    value instanceof Date ||
    value instanceof URL
  )
    return value;
  if (value instanceof RegExp) return value;
  for (const name of Object.keys(value)) {
    if (isMessage && name === 'lc_kwargs') continue;
    setOwn(out, name, comparable((value as Record<string, unknown>)[name]));
  }
  return { class: prototype, fields: out };
};

/** Throws unless the values are equal in every detail: -0, undefined against absent, classes; key order is ignored. */
export const assertSame = (actual: unknown, expected: unknown): void => {
  deepStrictEqual(comparable(actual), comparable(expected));
};
