import type { StateValue } from '@svc/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entriesMax, pageAt, type ValueRequest } from './state-value.ts';

const defaults: ValueRequest = { path: '', offset: 0, limit: 100, chars: 4_096, whole: 2_048 };

const textOf = (values: unknown, request: Partial<ValueRequest> = {}): string | undefined =>
  pageAt(values, { ...defaults, ...request }, null);

const page = (values: unknown, request: Partial<ValueRequest> = {}): StateValue =>
  JSON.parse(textOf(values, request) ?? 'null') as StateValue;

const keysOf = ({ entries = [] }: StateValue): string[] => entries.map(({ key }) => key);

/** All pages of the value at the path. */
const pagesOf = (values: unknown, request: Partial<ValueRequest>): StateValue[] => {
  const pages = [page(values, request)];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next)
    pages.push(page(values, { ...request, offset: next }));
  return pages;
};

const pointerOf = (steps: string[]): string =>
  steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The value at the path as a client rebuilds it that reads every page. */
const readAll = (values: unknown, request: Partial<ValueRequest>, steps: string[] = []): unknown => {
  const pages = pagesOf(values, { ...request, path: pointerOf(steps) });
  const [first] = pages as [StateValue];
  if (first.type === 'string') return pages.map(({ text }) => text).join('');
  if (first.type !== 'object' && first.type !== 'array') return first.value;
  const entries = pages
    .flatMap((one) => one.entries ?? [])
    .map((entry) => [
      entry.key,
      'value' in entry ? entry.value : readAll(values, request, [...steps, entry.key]),
    ]);
  expect(entries.length).toBe(first.length);
  return first.type === 'array' ? entries.map(([, value]) => value) : Object.fromEntries(entries);
};

const leaf = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('a', '😀', '\ud83d', '\ude00') }),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, undefined),
);
const key = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'ä'), maxLength: 6 }),
  fc.constantFrom('__proto__', 'constructor', 'length', ''),
);
const anyValues = fc.dictionary(key, fc.anything({ values: [leaf], key, maxDepth: 4 }), {
  noNullPrototype: true,
});

describe('the pages of a state', () => {
  it('rebuild its values, for every size of pages and entries', () => {
    const sizes = fc.record({
      limit: fc.integer({ min: 1, max: 8 }),
      chars: fc.integer({ min: 1, max: 20 }),
      whole: fc.integer({ min: 0, max: 60 }),
    });
    fc.assert(
      fc.property(anyValues, sizes, (values, request) => {
        expect(readAll(values, request)).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  it('have the sizes of the JSON texts, and an entry is whole exactly up to the size', () => {
    fc.assert(
      fc.property(anyValues, fc.integer({ min: 0, max: 60 }), (values, whole) => {
        const { size, entries = [] } = page(values, { limit: 1_000, whole });
        expect(size).toBe(JSON.stringify(values).length);
        for (const entry of entries) {
          const { length } = JSON.stringify(values[entry.key]);
          expect(entry.size).toBe(length);
          expect('value' in entry).toBe(length <= whole);
        }
      }),
    );
  });

  it('begin where slice() begins', () => {
    const offsets = fc.integer({ min: -12, max: 12 });
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 8 }), offsets, (list, offset) => {
        const found = page({ list }, { path: '/list', offset });
        expect(found.entries?.map(({ value }) => value)).toEqual(list.slice(offset));
        expect(found.offset).toBe(list.length - list.slice(offset).length);
        expect(page(list.join(''), { offset }).text).toBe(list.join('').slice(offset));
      }),
    );
  });
});

describe('a page of a string', () => {
  it('never ends or begins within a surrogate pair', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '😀') });
    fc.assert(
      fc.property(texts, fc.nat(20), fc.integer({ min: 1, max: 9 }), (value, offset, chars) => {
        const { text = '', ...found } = page(value, { offset, chars });
        expect(text).not.toMatch(/\p{Surrogate}/u);
        expect(value.startsWith(text, found.offset)).toBe(true);
        expect(found.next ?? value.length).toBe(found.offset + text.length);
      }),
    );
  });

  it('with room for one character has a whole surrogate pair', () => {
    expect(page('😀b', { chars: 1 })).toMatchObject({ text: '😀', next: 2 });
  });

  it('without characters has the length, and no next page', () => {
    const found = page('hello', { chars: 0 });
    expect(found).toMatchObject({ type: 'string', length: 5, size: 7, text: '' });
    expect(found).not.toHaveProperty('next');
  });
});

describe('an entry that is not whole', () => {
  it('has the beginning of a string, not within a surrogate pair', () => {
    const long = `${'x'.repeat(199)}😀${'y'.repeat(3_000)}`;
    expect(page({ long }).entries).toEqual([
      { key: 'long', type: 'string', length: 3_201, size: 3_203, preview: 'x'.repeat(199) },
    ]);
  });

  it('has the number of its members or elements', () => {
    const text = 'x'.repeat(3_000);
    expect(page({ list: [text, 1], object: { text, a: 1, gone: undefined } }).entries).toEqual([
      { key: 'list', type: 'array', length: 2, size: 3_006 },
      { key: 'object', type: 'object', length: 2, size: 3_017 },
    ]);
  });
});

describe('a page of entries', () => {
  it('has at most a megabyte, and continues behind its last entry', () => {
    const list = Array.from({ length: 1_000 }, (_, at) => `${at} ${'ä'.repeat(5_000)}`);
    const pages = pagesOf({ list }, { path: '/list', limit: 1_000, whole: 65_536 });
    expect(pages.length).toBeGreaterThan(4);
    for (const one of pages) expect(JSON.stringify(one.entries).length).toBeLessThan(entriesMax + 2_000);
    expect(pages.flatMap(({ entries = [] }) => entries.map(({ value }) => value))).toEqual(list);
  });

  it('has at most a megabyte of keys too', () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `${at} ${'k'.repeat(5_000)}`);
    const pages = pagesOf(Object.fromEntries(names.map((name) => [name, {}])), { limit: 1_000, whole: 0 });
    for (const one of pages) expect(JSON.stringify(one.entries).length).toBeLessThan(entriesMax + 2_000);
    expect(pages.flatMap(keysOf)).toEqual(names);
  });

  it('has one entry if its key is longer than a page', () => {
    const key = 'k'.repeat(entriesMax);
    expect(pagesOf({ [key]: 1, b: 2 }, {}).map(keysOf)).toEqual([[key], ['b']]);
  });
});

describe('a path', () => {
  const values = { 'a/b': { '~1': 1 }, '': { '': 2 }, list: [[3], undefined], text: 'abc', gone: undefined };

  it.each([
    ['/a~1b/~01', 1],
    ['//', 2],
    ['/list/0/0', 3],
    ['/list/1', null],
  ])('%j finds a member or an element', (path, value) => {
    expect(page(values, { path })).toMatchObject({ path, value });
  });

  it.each([
    '/a',
    '/gone',
    '/list/2',
    '/list/-1',
    '/list/-',
    '/list/00',
    '/list/length',
    '/list/0.0',
    '/text/0',
    '/text/length',
    '/__proto__',
    '/constructor/name',
    '/list/1/0',
  ])('%j finds nothing', (path) => {
    expect(textOf(values, { path })).toBeUndefined();
  });
});
