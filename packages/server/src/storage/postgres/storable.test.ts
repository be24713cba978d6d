import { AIMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { assertStorableKey, storableText } from './storable.ts';

const circle: Record<string, unknown> = {};
circle['self'] = circle;

class SelfReturning {
  readonly n = 1;
  toJSON(): this {
    return this;
  }
}

describe('a value for the store', () => {
  it.each([
    [
      'a NUL',
      { a: [{ b: 'x\u0000' }] },
      'value.a.0.b contains NUL or an unpaired surrogate, which the store cannot keep',
    ],
    ['a lone surrogate', { a: '\ud800' }, /^value\.a contains/],
    ['a key with a NUL', { 'a\u0000': 1 }, 'value.a\u0000 contains'],
    ['a bigint', { a: 1n }, 'value.a is a bigint, which JSON cannot represent'],
    ['a function', { a: () => 1 }, /value\.a is a function/],
    ['no number', { a: Number.NaN }, 'value.a is NaN, which JSON cannot represent'],
    ['a map', { a: new Map() }, 'value.a is a Map, which JSON cannot represent'],
    ['bytes', { a: new Uint8Array(1) }, 'value.a is a Uint8Array, which JSON cannot represent'],
    ['a circle', circle, /nested deeper than 100 levels, or contains itself$/],
  ])('with %s is rejected with its path', (_, value, message) => {
    expect(() => storableText(value)).toThrow(message);
  });

  it.each([[['a list']], ['a text'], [null], [undefined], [1]])(
    'is rejected when it is not an object: %j',
    (value) => {
      expect(() => storableText(value)).toThrow('value must be an object');
    },
  );

  it('is converted to JSON', () => {
    const value = {
      when: new Date(0),
      message: new AIMessage('hi 👋'),
      itself: new SelfReturning(),
      no: undefined,
      list: [null],
    };
    expect(storableText(value)).toBe(JSON.stringify(value));
  });

  it('is limited in bytes', () => {
    const most = 'x'.repeat(1_000_000 - '{"a":""}'.length);
    expect(storableText({ a: most })).toHaveLength(1_000_000);
    expect(() => storableText({ a: `${most.slice(1)}ü` })).toThrow(
      'has 1000001 bytes of JSON; the limit is 1000000',
    );
  });
});

describe('the key of an item', () => {
  const label = 'x'.repeat(128);
  it.each([
    ['no label', [], 'k', 'namespace must have at least one label'],
    ['an empty label', ['a', ''], 'k', 'namespace.1 must be a non-empty string'],
    ['a dot', ['a.b'], 'k', 'namespace.0 must not contain a dot'],
    ['a NUL', ['a\u0000'], 'k', /^namespace\.0 contains NUL/],
    ['a label that is none', [1 as unknown as string], 'k', /^namespace\.0 must be a non-empty string/],
    ['too long a label', ['ü'.repeat(65)], 'k', 'namespace.0 has 130 bytes; the limit is 128'],
    ['too many labels', Array<string>(33).fill('a'), 'k', 'namespace has 33 labels; the limit is 32'],
    ['too much of them', Array<string>(13).fill(label), 'k', /^namespace has 1664 bytes in all its labels/],
    ['an empty key', ['a'], '', 'key must be a non-empty string'],
    ['too long a key', ['a'], 'ü'.repeat(257), 'key has 514 bytes; the limit is 512'],
  ])('with %s is rejected', (_, namespace, key, message) => {
    expect(() => assertStorableKey({ namespace, key })).toThrow(message);
  });

  it('may have the maximum length', () => {
    expect(() =>
      assertStorableKey({ namespace: Array<string>(12).fill(label), key: 'k'.repeat(512) }),
    ).not.toThrow();
  });
});
