// The long-term store: as graphs see it, compared with the engine's in-memory store, and its limits over HTTP.
import { InMemoryStore, type BaseStore } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SvcStore } from '../src/runtime/executor/svc-store.ts';
import { storeItemStorage } from '../src/storage/store-items.ts';
import { testDatabase, type TestDatabase } from './database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const label = fc.constantFrom('a', 'b', 'users', '10', '1', '%', '_', 'ü');
const namespace = fc.array(label, { minLength: 1, maxLength: 3 });
const key = fc.constantFrom('k1', 'k2');
const value = fc.record({ n: fc.integer({ min: 0, max: 5 }), text: fc.constantFrom('x', 'y') });

type Step = (store: BaseStore) => Promise<unknown>;

const plain = (items: { namespace: string[]; key: string; value: unknown }[]) =>
  items
    .map((item) => ({ namespace: item.namespace, key: item.key, value: item.value }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(namespace, key, value).map(
    ([ns, k, v]): Step =>
      (store) =>
        store.put(ns, k, v),
  ),
  fc.tuple(namespace, key).map(
    ([ns, k]): Step =>
      (store) =>
        store.delete(ns, k),
  ),
  fc.tuple(namespace, key).map(
    ([ns, k]): Step =>
      async (store) =>
        (await store.get(ns, k))?.value ?? null,
  ),
  fc
    .tuple(
      namespace,
      fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'),
      fc.integer({ min: 0, max: 5 }),
    )
    // The whole namespace: the other store takes prefixes by letters, ours by labels.
    .map(([ns, operator, n]): Step => async (store) => {
      const found = await store.search(ns, { filter: { n: { [operator]: n } }, limit: 100 });
      return plain(
        found.filter(
          (item) => item.namespace.length === ns.length && item.namespace.every((one, at) => one === ns[at]),
        ),
      );
    }),
);

describe('the store of a graph', () => {
  it('does what the engine’s own store does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        await database.script('truncate store_items');
        const ours = new SvcStore(storeItemStorage(database));
        const theirs = new InMemoryStore();
        for (const one of steps) expect(await one(ours)).toEqual(await one(theirs));
      }),
      { numRuns: 60 },
    );
  });

  it('finds by whole labels, whatever stands in them', async () => {
    await database.script('truncate store_items');
    const store = new SvcStore(storeItemStorage(database));
    for (const ns of [
      ['users', '1'],
      ['users', '10'],
      ['users', '1', 'deep'],
      ['users'],
      ['usersX', '1'],
      ['%'],
      ['users%'],
    ])
      await store.put(ns, 'k', { ns });
    const found = async (prefix: string[]) =>
      (await store.search(prefix, { limit: 100 })).map((item) => item.namespace.join('/')).toSorted();
    expect(await found(['users', '1'])).toEqual(['users/1', 'users/1/deep']);
    expect(await found(['users'])).toEqual(['users', 'users/1', 'users/1/deep', 'users/10']);
    expect(await found(['%'])).toEqual(['%']);
    expect(await store.listNamespaces({ prefix: ['users', '*'], maxDepth: 2 })).toEqual([
      ['users', '1'],
      ['users', '10'],
    ]);
    expect(await store.listNamespaces({ suffix: ['deep'] })).toEqual([['users', '1', 'deep']]);
  });

  it('refuses what it could not give back', async () => {
    const store = new SvcStore(storeItemStorage(database));
    await expect(store.put(['a'], 'k', { deep: { nul: 'a\u0000b' } })).rejects.toThrow(
      /value\.deep\.nul holds NUL/,
    );
    await expect(store.put(['a'], 'k', { big: 1n })).rejects.toThrow(/value\.big is a bigint/);
  });

  it('finds below a prefix by the index, at 100,000 rows', async () => {
    await database.script(`truncate store_items;
      insert into store_items (namespace, key, value) select array['users', (n % 5000)::text, 'notes'], n::text, jsonb_build_object('n', n) from generate_series(1, 100000) n;
      analyze store_items`);
    const plan = await database.query<{ 'QUERY PLAN': string }>(
      {
        name: 'explain',
        text: `explain select * from store_items where namespace >= '{users,42}' and namespace < '{users,"42\u0001"}' order by updated_at desc limit 10`,
      },
      [],
    );
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
      /Index Scan|Bitmap Index Scan on store_items_pkey/,
    );
    const store = new SvcStore(storeItemStorage(database));
    expect(await store.search(['users', '42'], { limit: 100 })).toHaveLength(20);
  });
});
