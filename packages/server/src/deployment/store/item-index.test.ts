import { describe, expect, it } from 'vitest';
import { everyRow } from '../../storage/postgres/row-filter.ts';
import { ItemIndex } from './item-index.ts';

const search = { query: 'q', prefix: [], limit: 1, offset: 0 };
const answering = (answer: unknown) => new ItemIndex({ askStoreIndex: () => Promise.resolve(answer) });

describe('the index of items', () => {
  it('asks no executor about an item without an index', async () => {
    const index = new ItemIndex({ askStoreIndex: () => Promise.reject(new Error('asked')) });
    expect(await index.embed('{}', false)).toBeNull();
  });

  it.each<[string, unknown]>([
    ['a text', 'vectors'],
    ['vectors without a size', { bytes: new Uint8Array(8) }],
    ['part of a vector', { dims: 2, bytes: new Uint8Array(12) }],
    ['no bytes', { dims: 2, bytes: new Uint8Array(0) }],
    ['a list of numbers', { dims: 2, bytes: [1, 2] }],
  ])('refuses %s as vectors', async (_, answer) => {
    await expect(answering(answer).embed('{}', null)).rejects.toThrow('not valid');
  });

  it.each<[string, unknown]>([
    ['an object', {}],
    ['an item without a score', [{ namespace: ['a'], key: 'k' }]],
    ['a score that is NaN', [{ namespace: ['a'], key: 'k', score: NaN }]],
    ['a namespace that is a text', [{ namespace: 'a', key: 'k', score: 1 }]],
  ])('refuses %s as a ranking', async (_, answer) => {
    await expect(answering(answer).rank(search, everyRow)).rejects.toThrow('not valid');
  });

  it('rejects requests beyond its limit until earlier ones are answered', async () => {
    let answer: (value: unknown) => void = () => undefined;
    const pool = { askStoreIndex: () => new Promise<unknown>((resolve) => (answer = resolve)) };
    const index = new ItemIndex(pool, { requestsMax: 1, timeMs: 10_000 });
    const first = index.rank(search, everyRow);
    await expect(index.rank(search, everyRow)).rejects.toMatchObject({ code: 'unavailable' });
    answer([]);
    expect(await first).toEqual([]);
    const next = index.rank(search, everyRow);
    answer([]);
    expect(await next).toEqual([]);
  });

  it('rejects a request that is not answered in time', async () => {
    const pool = { askStoreIndex: () => new Promise<unknown>(() => undefined) };
    const index = new ItemIndex(pool, { requestsMax: 1, timeMs: 10 });
    await expect(index.rank(search, everyRow)).rejects.toThrow('did not answer within 0.01 s');
  });
});
