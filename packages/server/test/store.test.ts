// The long-term store: as graphs use it, compared with the engine's in-memory store, and its limits over HTTP.
import {
  InMemoryStore,
  type BaseStore,
  type GetOperation,
  type PutOperation,
} from '@langchain/langgraph-checkpoint';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SvcStore } from '../src/engine/executor/store/svc-store.ts';
import { storeItemStorage } from '../src/storage/deployment/store/store-items.ts';
import type { Database } from '../src/storage/postgres/database.ts';
import { testDatabase } from './database.ts';
import { startTestServer } from './server.ts';
import { fixture } from './fixture.ts';

const database = fixture(() => testDatabase());

const label = fc.constantFrom('a', 'b', 'users', '10', '1', '%', '_', 'ü');
const namespace = fc.array(label, { minLength: 1, maxLength: 3 });
const key = fc.constantFrom('k1', 'k2');
const value = fc.record({ n: fc.integer({ min: 0, max: 5 }), text: fc.constantFrom('x', 'y') });

type Step = (store: BaseStore) => Promise<unknown>;

const plain = (items: { namespace: string[]; key: string; value: unknown }[]) =>
  items
    .map((item) => ({ namespace: item.namespace, key: item.key, value: item.value }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const isSame = (one: string[], other: string[]): boolean =>
  one.length === other.length && one.every((label, at) => label === other[at]);

const n = fc.integer({ min: 0, max: 5 });
const filter = fc.oneof(
  fc.tuple(fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'), n).map(([operator, operand]) => ({
    n: { [operator]: operand },
  })),
  fc.tuple(fc.constantFrom('$in', '$nin'), fc.array(n, { maxLength: 3 })).map(([operator, operand]) => ({
    n: { [operator]: operand },
  })),
  fc.record({ n, text: fc.constantFrom('x', 'z') }),
  fc.constantFrom(
    { missing: { $ne: 1 } },
    { missing: { $nin: [1] } },
    { missing: 1 },
    { missing: undefined },
  ),
);

/** The last write of a key wins. A batch does not read what it writes, because the in-memory store returns the same object. */
const operation = fc.oneof(
  fc.record({ namespace, key }),
  fc.record({ namespace, key, value: fc.option(value) }),
);

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
  fc.tuple(namespace, filter).map(
    ([ns, wanted]): Step =>
      async (store) =>
        // Uses whole namespaces: the in-memory store matches prefixes by characters, svc's store by labels.
        plain(
          (await store.search(ns, { filter: wanted, limit: 100 })).filter((item) =>
            isSame(item.namespace, ns),
          ),
        ),
  ),
  fc.array(operation, { maxLength: 5 }).map((operations): Step => {
    const written = operations.filter((one) => 'value' in one);
    const apart = operations.filter(
      (one) =>
        'value' in one ||
        !written.some((other) => other.key === one.key && isSame(other.namespace, one.namespace)),
    );
    return async (store) =>
      (await store.batch(apart)).map((result) => (result as { value: unknown } | null)?.value ?? null);
  }),
);

describe('the store of a graph', () => {
  it("behaves like the engine's in-memory store", async () => {
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

  it('matches whole labels with any characters', async () => {
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

  it("lists namespaces by prefix, suffix, wildcard and depth like the engine's own store", async () => {
    const part = fc.option(fc.array(fc.oneof(label, fc.constant('*')), { minLength: 1, maxLength: 3 }), {
      nil: undefined,
    });
    const search = fc.record({ prefix: part, suffix: part, maxDepth: fc.constantFrom(undefined, 1, 2, 3) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(namespace, { maxLength: 8 }),
        search,
        async (namespaces, { prefix, suffix, maxDepth }) => {
          await database.script('truncate store_items');
          const stores: BaseStore[] = [new SvcStore(storeItemStorage(database)), new InMemoryStore()];
          const options = {
            ...(prefix && { prefix }),
            ...(suffix && { suffix }),
            ...(maxDepth !== undefined && { maxDepth }),
          };
          const [ours, theirs] = await Promise.all(
            stores.map(async (store) => {
              for (const ns of namespaces) await store.put(ns, 'k', {});
              const found = await store.listNamespaces(options);
              return found.map((ns) => ns.join('/')).toSorted();
            }),
          );
          expect(ours).toEqual(theirs);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reads in a batch the values from before the batch', async () => {
    await database.script('truncate store_items');
    const store = new SvcStore(storeItemStorage(database));
    await store.put(['a'], 'k', { n: 1 });
    const [, read, again] = await store.batch([
      { namespace: ['a'], key: 'k', value: { n: 2 } },
      { namespace: ['a'], key: 'k' },
      { namespace: ['a'], key: 'k', value: { n: 3 } },
    ] as [PutOperation, GetOperation, PutOperation]);
    expect([read?.value, again]).toEqual([{ n: 1 }, null]);
    expect((await store.get(['a'], 'k'))?.value).toEqual({ n: 3 });
  });

  it('writes all of a batch or nothing', async () => {
    await database.script('truncate store_items');
    const store = new SvcStore(storeItemStorage(database));
    await store.put(['a'], 'old', { n: 1 });
    const refused = store.batch([
      { namespace: ['a'], key: 'old', value: null },
      { namespace: ['a'], key: 'new', value: { n: 1n } },
    ]);
    await expect(refused).rejects.toThrow(/value\.n is a bigint/);
    expect(await store.get(['a'], 'old')).toMatchObject({ value: { n: 1 } });
  });

  it('accepts concurrent batches on the same keys, each at the first try', async () => {
    let tries = 0;
    const counted: Database = {
      ...database,
      transact: (work) =>
        database.transact((tx) => {
          tries++;
          return work(tx);
        }),
    };
    const store = new SvcStore(storeItemStorage(counted));
    const rounds = 12;
    const keys = Array.from({ length: 40 }, (_, at) => `k${at}`);
    await Promise.all(
      Array.from({ length: rounds }, (_, round) =>
        store.batch(
          (round % 2 ? keys : keys.toReversed()).map((one, at) => ({
            namespace: ['crossing'],
            key: one,
            value: (at + round) % 3 === 0 ? null : { round },
          })),
        ),
      ),
    );
    expect(tries).toBe(rounds);
    const { length } = await store.search(['crossing'], { limit: 100 });
    expect(length).toBeGreaterThan(0);
  });

  it('searches below a prefix by the index, with 100,000 rows', async () => {
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
    const namespaces = await store.listNamespaces({ maxDepth: 2, limit: 10_000 });
    expect(new Set(namespaces.map((ns) => ns.join('/'))).size).toBe(5_000);
    expect(await store.listNamespaces({ maxDepth: 2, limit: 2, offset: 1 })).toEqual(namespaces.slice(1, 3));
    expect(await store.listNamespaces({ maxDepth: 1 })).toEqual([['users']]);
  });
});

describe('the store over HTTP', () => {
  const server = fixture(() => startTestServer());

  const put = (body: object) =>
    server.call('PUT', '/store/items', { namespace: ['a'], key: 'k', value: {}, ...body });

  it('stores, returns, replaces and deletes an item', async () => {
    expect(await put({ namespace: ['users', '1'], value: { n: 1 } })).toMatchObject({
      status: 204,
      body: '',
    });
    expect(await put({ namespace: ['users', '1'], value: { n: 2 } })).toMatchObject({ status: 204 });
    const path = '/store/items?namespace=users.1&key=k';
    expect((await server.call('GET', path)).body).toMatchObject({
      namespace: ['users', '1'],
      key: 'k',
      value: { n: 2 },
    });
    const found = await server.call('POST', '/store/items/search', {
      namespace_prefix: ['users'],
      filter: { n: 2 },
    });
    expect(found.body).toMatchObject({ items: [{ key: 'k', value: { n: 2 } }] });
    const deleted = { namespace: ['users', '1'], key: 'k' };
    expect((await server.call('DELETE', '/store/items', deleted)).status).toBe(204);
    expect((await server.call('DELETE', '/store/items', deleted)).status).toBe(204);
    expect(await server.call('GET', path)).toMatchObject({ status: 200, body: null });
  });

  it('returns the selected fields of items, and reads the others not', async () => {
    for (const key of ['one', 'two'])
      await put({ namespace: ['selected'], key, value: { text: 'x'.repeat(500_000) } });
    const search = async (body: object) => {
      const namespace_prefix = ['selected'];
      const answer = await server.call('POST', '/store/items/search', { namespace_prefix, ...body });
      return answer.body as { items: Record<string, unknown>[] };
    };
    expect((await search({ select: ['key'] })).items).toEqual([{ key: 'two' }, { key: 'one' }]);
    const { items: whole } = await search({});
    expect((await search({ select: null })).items).toEqual(whole);
    const names = ['namespace', 'key', 'value', 'created_at', 'updated_at'];
    expect((await search({ select: [...names, 'score'] })).items).toEqual(whole);
    for (const [name, select] of names.map((each) => [each, [each]] as const))
      expect((await search({ select })).items).toEqual(whole.map((item) => ({ [name]: item[name] })));
  });

  it.each<[unknown]>([[['keys']], [['key', 'ttl']], ['key'], [Array.from({ length: 7 }, () => 'key')]])(
    'rejects the selection %j',
    async (select) => {
      expect(await server.call('POST', '/store/items/search', { select })).toMatchObject({ status: 422 });
    },
  );

  it('is shared with graphs', async () => {
    const run = await server.call('POST', '/runs/wait', { assistant_id: 'probe', input: { do: 'remember' } });
    expect(run.body).toMatchObject({ out: { text: 'from the graph' } });
    expect((await server.call('GET', '/store/items?namespace=notes&key=one')).body).toMatchObject({
      value: { text: 'from the graph' },
    });
  });

  it('lists namespaces truncated to a depth, once each', async () => {
    for (const namespace of [
      ['depth', 'a', 'x'],
      ['depth', 'a', 'y'],
      ['depth', 'b'],
    ])
      await put({ namespace });
    const list = async (body: object) =>
      (await server.call('POST', '/store/namespaces', body)).body as { namespaces: string[][] };
    expect((await list({ prefix: ['depth'], max_depth: 2 })).namespaces).toEqual([
      ['depth', 'a'],
      ['depth', 'b'],
    ]);
    expect((await list({ prefix: ['depth'], suffix: ['*', 'y'] })).namespaces).toEqual([['depth', 'a', 'y']]);
  });

  const random = (bytes: number): string => randomBytes(bytes / 2).toString('hex');
  const labels = (count: number) => Array.from({ length: count }, () => random(128));

  it.each([
    ['more labels than an index row holds', { namespace: labels(13) }, 422],
    ['an empty namespace', { namespace: [] }, 422],
    ['a label with a dot', { namespace: ['a.b'] }, 422],
    ['a key of more than 512 bytes', { key: 'ü'.repeat(300) }, 422],
    ['a value of more than a megabyte', { value: { a: 'x'.repeat(1_000_001) } }, 413],
    ['a value that is a list', { value: [1] }, 422],
  ])('rejects %s', async (_, body, status) => {
    expect((await put(body)).status).toBe(status);
  });

  it('accepts the longest possible key', async () => {
    expect((await put({ namespace: labels(12), key: random(512) })).status).toBe(204);
  });

  it.each([
    ['$in', { n: { $in: 1 } }, /\$in of n needs a list/],
    ['$regex', { n: { $regex: 'x' } }, /\$regex is not an operator/],
  ])('rejects an invalid filter with %s', async (_, wanted, sentence) => {
    const answer = await server.call('POST', '/store/items/search', { filter: wanted });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        message: expect.stringMatching(sentence) as string,
        detail: [
          {
            loc: [
              'body',
              'filter',
              ...Object.entries(wanted).flatMap(([key, of]) => [key, ...Object.keys(of)]),
            ],
          },
        ],
      },
    });
  });
});
