// The ranking of stored vectors: compared with a computation in memory, its limits, and its plan at 100,000 rows.
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { storeItemStorage } from '../../src/storage/deployment/store/store-items.ts';
import { storeVectorStorage } from '../../src/storage/deployment/store/store-vectors.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());

const bytesOf = (vectors: number[][]) => new Uint8Array(Float32Array.from(vectors.flat()).buffer);
const vectorOf = (numbers: number[]) => Float32Array.from(numbers);

const put = (key: string, vectors: number[][], namespace = ['n']) =>
  storeItemStorage(database).put(
    { namespace, key, value: { key }, vectors: { dims: vectors[0]?.length ?? 1, bytes: bytesOf(vectors) } },
    everyRow,
  );

const angle = fc.double({ min: 0, max: 6.28, noNaN: true }).map((at) => [Math.cos(at), Math.sin(at)]);
const dot = ([a = 0, b = 0]: number[], [c = 0, d = 0]: number[]): number => a * c + b * d;

describe('a ranking', () => {
  beforeEach(() => database.script('truncate store_items, store_vectors'));

  it('has the best vector of each item, in order, as a computation in memory has', async () => {
    const items = fc.uniqueArray(
      fc.record({
        key: fc.constantFrom(...'abcdefghij'.split('')),
        vectors: fc.array(angle, { minLength: 1, maxLength: 3 }),
      }),
      { selector: ({ key }) => key, minLength: 1 },
    );
    await fc.assert(
      fc.asyncProperty(items, angle, fc.integer({ min: 1, max: 12 }), async (stored, query, top) => {
        await database.script('truncate store_items, store_vectors');
        for (const { key, vectors } of stored) await put(key, vectors);
        const found = await storeVectorStorage(database).rank(
          { prefix: ['n'], vector: vectorOf(query), top },
          everyRow,
        );
        const expected = stored.map(({ vectors }) =>
          Math.max(...vectors.map((vector) => dot(vector, query))),
        );
        expect(found).toHaveLength(Math.min(top, stored.length));
        const scores = expected.toSorted((a, b) => b - a).slice(0, top);
        for (const [at, { score }] of found.entries()) expect(score).toBeCloseTo(scores[at] ?? NaN, 5);
      }),
      { numRuns: 30 },
    );
  });

  it('leaves out vectors of another size', async () => {
    await put('two', [[1, 0]]);
    await put('three', [[1, 0, 0]]);
    const search = { prefix: [], vector: vectorOf([1, 0]), top: 10 };
    expect(await storeVectorStorage(database).rank(search, everyRow)).toEqual([
      { namespace: ['n'], key: 'two', score: 1 },
    ]);
  });

  it('of more vectors than the limit is rejected, and the next one works', async () => {
    for (let n = 0; n < 6; n++)
      await put(
        `k${n}`,
        [
          [1, 0],
          [0, 1],
        ],
        ['big'],
      );
    await put('k', [[1, 0]], ['small']);
    const limited = storeVectorStorage(database, { vectorsMax: 11, timeMs: 10_000 });
    const search = { vector: vectorOf([1, 0]), top: 10 };
    await expect(limited.rank({ ...search, prefix: ['big'] }, everyRow)).rejects.toMatchObject({
      code: 'invalid',
      message: /more than 11 vectors. Choose a longer namespace_prefix/,
      faults: [{ loc: ['namespace_prefix'] }],
    });
    expect(await limited.rank({ ...search, prefix: ['small'] }, everyRow)).toHaveLength(1);
  });
});

describe('with 100,000 items', () => {
  beforeAll(async () => {
    await database.script(`truncate store_items, store_vectors;
      insert into store_items (namespace, key, value)
        select array['users', (n % 5000)::text, 'notes'], n::text, jsonb_build_object('n', n) from generate_series(1, 100000) n;
      insert into store_vectors (namespace, key, item_updated_at, dims, vectors)
        select namespace, key, updated_at, 2, case when key::int % 2 = 0 then '\\x0000803f00000000'::bytea else '\\x000000000000803f' end
        from store_items;
      analyze store_items, store_vectors`);
  });

  /** The plan of the statement that a search sends. */
  const planOf = async (prefix: string[], filter?: Record<string, unknown>): Promise<string> => {
    let text = '';
    const observed: Database = {
      ...database,
      transact: (work) =>
        database.transact((tx) =>
          work({
            ...tx,
            copyOut: (copy, ...rest) => {
              text = copy;
              return tx.copyOut(copy, ...rest);
            },
          }),
        ),
    };
    await storeVectorStorage(observed).rank({ prefix, filter, vector: vectorOf([1, 0]), top: 5 }, everyRow);
    const query = text.replace(/^copy \(/, 'explain ').replace(/\) to stdout.*$/s, '');
    const rows = await database.query<{ 'QUERY PLAN': string }>({ text: query }, []);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };

  it('a search below a prefix reads both tables by their indexes', async () => {
    const plan = await planOf(['users', '42']);
    expect(plan).toMatch(/store_vectors_pkey/);
    expect(plan).not.toMatch(/Seq Scan/);
  });

  it('a search with a selective filter reads the vectors of its items only', async () => {
    const plan = await planOf([], { n: 7 });
    expect(plan).toMatch(/store_items_value/);
    expect(plan).toMatch(/store_vectors_pkey/);
    expect(plan).not.toMatch(/Seq Scan/);
  });

  it('a search of everything compares all vectors', async () => {
    const search = { prefix: [], vector: vectorOf([1, 0]), top: 50_001 };
    const found = await storeVectorStorage(database).rank(search, everyRow);
    expect(found).toHaveLength(50_001);
    expect(found.filter(({ score }) => score === 1)).toHaveLength(50_000);
  });

  it('a search that takes longer than its time limit is rejected', async () => {
    const limited = storeVectorStorage(database, { vectorsMax: 100_000, timeMs: 1 });
    const search = { prefix: [], vector: vectorOf([1, 0]), top: 5 };
    await expect(limited.rank(search, everyRow)).rejects.toMatchObject({
      code: 'invalid',
      message: /takes more than 0.001 s/,
    });
  });
});
