// Searches of the store by meaning: over HTTP, by a stock client, and from graphs.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { createClient } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const projectOf = (name: string): string => fileURLToPath(new URL(`./project/${name}`, import.meta.url));

const server = fixture(() => startTestServer({ project: projectOf('svc.json') }));

const put = (namespace: string[], key: string, value: object, options: object = {}) =>
  server.call('PUT', '/store/items', { namespace, key, value, ...options });
const stored = async (namespace: string[], key: string) =>
  (await server.call('GET', `/store/items?namespace=${namespace.join('.')}&key=${key}`)).body;

interface Found {
  key: string;
  score?: number;
}
const search = async (body: object): Promise<Found[]> => {
  const { status, body: answer } = await server.call('POST', '/store/items/search', body);
  expect(status).toBe(200);
  return (answer as { items: Found[] }).items;
};
const keys = (items: Found[]): string[] => items.map(({ key }) => key);
const vectorsOf = async (namespace: string[]): Promise<number> => {
  const statement = {
    name: 'vectors_of',
    text: 'select count(*)::int as n from store_vectors where namespace = $1',
  };
  return (await server.database.query<{ n: number }>(statement, [namespace]))[0]?.n ?? -1;
};

describe('a search with a query', () => {
  it('orders items by similarity, with their scores', async () => {
    await put(['order'], 'mixed', { text: 'an apple and a cat' });
    await put(['order'], 'fruit', { text: 'an apple' });
    await put(['order'], 'animal', { text: 'a dog' });
    const items = await search({ namespace_prefix: ['order'], query: 'apple' });
    expect(keys(items)).toEqual(['fruit', 'mixed', 'animal']);
    expect(items[0]?.score).toBeCloseTo(1, 5);
    expect(items[1]?.score).toBeCloseTo(Math.SQRT1_2, 5);
    expect(items[2]?.score).toBeCloseTo(0, 5);
  });

  it('returns pages that continue each other', async () => {
    for (let n = 0; n < 7; n++) await put(['pages'], `k${n}`, { text: 'apple '.repeat(n % 3) + 'cat' });
    const whole = keys(await search({ namespace_prefix: ['pages'], query: 'apple', limit: 10 }));
    expect(whole).toHaveLength(7);
    const pages: string[] = [];
    for (let offset = 0; offset < 7; offset += 3) {
      const page = await server.call('POST', '/store/items/search', {
        namespace_prefix: ['pages'],
        query: 'apple',
        limit: 3,
        offset,
      });
      pages.push(...keys((page.body as { items: Found[] }).items));
      expect(page.headers.get('x-pagination-next')).toBe(offset < 6 ? String(offset + 3) : null);
    }
    expect(pages).toEqual(whole);
  });

  it('applies the filter, and stays below the prefix by whole labels', async () => {
    await put(['scope', 'a'], 'red', { text: 'apple', color: 'red' });
    await put(['scope', 'a'], 'green', { text: 'apple', color: 'green' });
    await put(['scopes'], 'other', { text: 'apple', color: 'red' });
    const body = { namespace_prefix: ['scope'], query: 'apple' };
    expect(keys(await search({ ...body, filter: { color: 'red' } }))).toEqual(['red']);
    expect(keys(await search({ ...body, filter: { color: { $ne: 'red' } } }))).toEqual(['green']);
    expect(keys(await search(body)).toSorted()).toEqual(['green', 'red']);
  });

  it('finds names and filters with quotes and backslashes', async () => {
    const label = `it's a "b\\c"`;
    await put([label], `k'1`, { text: 'apple', 'a\'b"c\\': `d'e"f\\` });
    const body = { namespace_prefix: [label], query: 'apple', filter: { 'a\'b"c\\': `d'e"f\\` } };
    expect(keys(await search(body))).toEqual([`k'1`]);
    expect(await search({ ...body, filter: { x: "' or true --" } })).toEqual([]);
  });

  it('rejects a prefix and a key of the filter with NUL', async () => {
    for (const body of [{ namespace_prefix: ['a\u0000'] }, { filter: { 'a\u0000': 1 } }])
      expect(
        (await server.call('POST', '/store/items/search', { ...body, query: 'apple' })).status,
      ).toBeOneOf([400, 422]);
  });

  it('reports an invalid operator of the filter with its place', async () => {
    const body = { query: 'apple', filter: { n: { $regex: 'x' } } };
    expect(await server.call('POST', '/store/items/search', body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'filter', 'n', '$regex'] }] },
    });
  });

  it('is a list of the newest items when the query is empty', async () => {
    await put(['empty'], 'old', { text: 'apple' });
    await put(['empty'], 'new', { text: 'cat' }, { index: false });
    const items = await search({ namespace_prefix: ['empty'], query: '' });
    expect(keys(items)).toEqual(['new', 'old']);
    expect(items[0]).not.toHaveProperty('score');
  });

  it('is answered to a stock client, with scores', async () => {
    const client = new Client({ apiUrl: server.url });
    await client.store.putItem(['stock'], 'one', { text: 'a river' });
    await client.store.putItem(['stock'], 'two', { title: 'a river', text: 'dog' }, { index: ['text'] });
    const { items } = await client.store.searchItems(['stock'], { query: 'river', limit: 5 });
    expect(items.map(({ key, score }) => [key, Math.round((score ?? -1) * 100) / 100])).toEqual([
      ['one', 1],
      ['two', 0],
    ]);
  });
});

describe('the client of svc', () => {
  it('selects fields of the items', async () => {
    const client = createClient({ apiUrl: server.url });
    await client.store.put(['fields'], 'k', { text: 'a river' });
    const select = ['key', 'score'] as const;
    const items = await client.store.search(['fields'], { query: 'river', select: [...select] });
    expect(items).toEqual([{ key: 'k', score: expect.closeTo(1) }]);
  });

  it('passes the index of a put on, and returns scores', async () => {
    const client = createClient({ apiUrl: server.url });
    await client.store.put(['own'], 'k', { title: 'a river', text: 'dog' }, { index: ['text'] });
    await client.store.put(['own'], 'hidden', { text: 'dog' }, { index: false });
    const items = await client.store.search(['own'], { query: 'dog' });
    expect(items.map(({ key, score }) => [key, Math.round((score ?? -1) * 100)])).toEqual([['k', 100]]);
  });
});

describe('a put', () => {
  it('with index false is stored and not found by a query', async () => {
    await put(['unindexed'], 'hidden', { text: 'apple' }, { index: false });
    expect(await search({ namespace_prefix: ['unindexed'], query: 'apple' })).toEqual([]);
    expect(keys(await search({ namespace_prefix: ['unindexed'] }))).toEqual(['hidden']);
  });

  it('with paths compares the best of their texts', async () => {
    const value = { title: 'a dog', parts: [{ text: 'cat' }, { text: 'river' }], rest: 'apple' };
    await put(['paths'], 'k', value, { index: ['title', 'parts[*].text'] });
    const scoreOf = async (query: string) => (await search({ namespace_prefix: ['paths'], query }))[0]?.score;
    expect(await scoreOf('river')).toBeCloseTo(1, 5);
    expect(await scoreOf('dog')).toBeCloseTo(1, 5);
    expect(await scoreOf('apple')).toBeCloseTo(0, 5);
  });

  it('of an existing item replaces its vectors', async () => {
    await put(['replace'], 'k', { text: 'apple' });
    await put(['replace'], 'k', { text: 'dog' });
    expect((await search({ namespace_prefix: ['replace'], query: 'apple' }))[0]?.score).toBeCloseTo(0, 5);
    expect((await search({ namespace_prefix: ['replace'], query: 'dog' }))[0]?.score).toBeCloseTo(1, 5);
    await put(['replace'], 'k', { text: 'dog' }, { index: false });
    expect(await search({ namespace_prefix: ['replace'], query: 'dog' })).toEqual([]);
    expect(await vectorsOf(['replace'])).toBe(0);
  });

  it('without texts at its paths has no vectors', async () => {
    expect((await put(['textless'], 'k', { n: null }, { index: ['n', 'missing[0]'] })).status).toBe(204);
    expect(await vectorsOf(['textless'])).toBe(0);
  });

  it('with a path that cannot be parsed is rejected with the place', async () => {
    expect(await put(['bad'], 'k', {}, { index: ['title', 'parts[x]'] })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'index', 1] }] },
    });
  });

  it.each([
    [
      'more texts',
      { list: Array.from({ length: 101 }, (_, n) => `t${n}`) },
      ['list[*]'],
      /more than 100 texts/,
    ],
    ['a longer text', { text: 'x'.repeat(100_001) }, ['text'], /more than 100000 characters/],
    [
      'more text',
      { text: 'x'.repeat(99_999) },
      ['text', 'text', 'text'].flatMap((path) => Array<string>(4).fill(path)),
      /more than 1000000 characters/,
    ],
  ])('with %s than are embedded is rejected', async (_, value, index, sentence) => {
    const answer = await put(['large'], 'k', value, { index });
    expect(answer).toMatchObject({
      status: 413,
      body: { message: expect.stringMatching(sentence) as string },
    });
    expect(await stored(['large'], 'k')).toBeNull();
  });

  it.each([
    ['fails', 'fail-now', /The embedding function failed/],
    ['returns vectors of another size', 'wrong-size', /a vector of 3 numbers; store.index.dims is 6/],
    ['returns NaN', 'not-a-number', /returned NaN as number 0/],
    ['returns a text as a vector', 'not-a-vector', /instead of the vector of text 0/],
    ['returns no list', 'no-list', /returned undefined for 1 texts/],
    ['returns too few vectors', 'one-less', /returned 0 vectors for 1 texts/],
    ['ends its process', 'exit-now', /The executor ended/],
  ])('is not stored when the embedding function %s', async (_, word, sentence) => {
    const namespace = [`failed-${randomUUID()}`];
    await put(namespace, 'k', { text: 'apple' });
    const answer = await put(namespace, 'k', { text: word });
    expect(answer).toMatchObject({
      status: 503,
      body: { message: expect.stringMatching(sentence) as string },
    });
    expect(JSON.stringify(answer.body)).not.toContain('secret-key');
    expect(await stored(namespace, 'k')).toMatchObject({ value: { text: 'apple' } });
    await eventually(async () => {
      const answer = await server.call('POST', '/store/items/search', {
        namespace_prefix: namespace,
        query: 'apple',
      });
      expect(answer).toMatchObject({ status: 200, body: { items: [{ key: 'k' }] } });
    });
  });

  it('by a concurrent request leaves the vectors of the value that stays', async () => {
    const texts = ['apple', 'banana', 'cat', 'dog', 'river', 'mountain'];
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        texts.map((text, n) => put(['racing'], 'k', { text }, n === 3 ? { index: false } : {})),
      );
      const { value } = (await stored(['racing'], 'k')) as { value: { text: string } };
      const [item] = await search({ namespace_prefix: ['racing'], query: value.text });
      if (value.text === 'dog') expect(item).toBeUndefined();
      else expect(item?.score).toBeCloseTo(1, 5);
    }
  });
});

describe('vectors', () => {
  it('are deleted with their item', async () => {
    await put(['deleted'], 'k', { text: 'apple' });
    expect(await vectorsOf(['deleted'])).toBe(1);
    await server.call('DELETE', '/store/items', { namespace: ['deleted'], key: 'k' });
    expect(await vectorsOf(['deleted'])).toBe(0);
    expect(await search({ namespace_prefix: ['deleted'], query: 'apple' })).toEqual([]);
  });

  it('of an expired item are not found', async () => {
    await put(['expired'], 'k', { text: 'apple' }, { ttl: 60 });
    expect(await search({ namespace_prefix: ['expired'], query: 'apple' })).toHaveLength(1);
    await server.database.script(`update store_items set expires_at = now() where namespace = '{expired}'`);
    expect(await search({ namespace_prefix: ['expired'], query: 'apple' })).toEqual([]);
  });

  it('of a value that was replaced without them are ignored', async () => {
    await put(['older'], 'k', { text: 'apple' });
    // As an operator replaces it in the database.
    await server.database.script(
      `update store_items set value = '{"text": "dog"}', updated_at = clock_timestamp() where namespace = '{older}'`,
    );
    expect(await search({ namespace_prefix: ['older'], query: 'apple' })).toEqual([]);
  });
});

describe('the store of a graph', () => {
  const run = async (wanted: object) =>
    (await server.call('POST', '/runs/wait', { assistant_id: 'notes', input: { wanted } })).body as {
      found: Found[];
      __error__?: { message: string };
    };

  it('searches by meaning, and passes the index of a put on', async () => {
    const { found } = await run({
      put: [
        { key: 'whole', value: { text: 'mountain' } },
        { key: 'title', value: { title: 'mountain', text: 'dog' }, index: ['text'] },
        { key: 'none', value: { text: 'mountain' }, index: false },
      ],
      search: { query: 'mountain' },
    });
    expect(found.map(({ key, score }) => [key, Math.round((score ?? -1) * 100)])).toEqual([
      ['whole', 100],
      ['title', 0],
    ]);
    expect(keys(await search({ namespace_prefix: ['graph'], query: 'mountain' }))).toEqual([
      'whole',
      'title',
    ]);
    const { found: first } = await run({ search: { query: 'mountain', limit: 1 } });
    expect(keys(first)).toEqual(['whole']);
  });

  it('stores nothing of a batch when one item cannot be embedded', async () => {
    const answer = await run({
      put: [
        { key: 'good', value: { text: 'apple' } },
        { key: 'bad', value: { text: 'fail-now' } },
      ],
    });
    expect(answer.__error__?.message).toMatch(/The embedding function failed/);
    expect(await stored(['graph'], 'good')).toBeNull();
  });
});

describe('with two users', () => {
  const secured = fixture(() => startTestServer({ project: projectOf('secured.json') }));

  it('a search ranks only items that the filter of the auth handler lets the user see', async () => {
    const call = (user: string, method: string, path: string, body: object) =>
      secured.call(method, path, body, { authorization: `Bearer ${user}` });
    const own = { namespace: ['notes'], value: { title: 'cat' } };
    for (let n = 0; n < 5; n++)
      await call('alice', 'PUT', '/store/items', { ...own, key: `a${n}`, value: { title: 'apple' } });
    await call('bob', 'PUT', '/store/items', { ...own, key: 'b' });
    const found = async (user: string) => {
      const body = { namespace_prefix: ['notes'], query: 'apple', limit: 3 };
      const answer = await call(user, 'POST', '/store/items/search', body);
      return keys((answer.body as { items: Found[] }).items);
    };
    expect(await found('bob')).toEqual(['b']);
    expect(await found('alice')).toEqual(['a0', 'a1', 'a2']);
    expect(await found('carol')).toEqual([]);
    const over = await call('bob', 'PUT', '/store/items', { ...own, key: 'a0' });
    expect(over.status).toBe(404);
    expect(await found('alice')).toEqual(['a0', 'a1', 'a2']);
  });

  it('the paths of the configuration are those of puts without index', async () => {
    const call = (method: string, path: string, body: object) =>
      secured.call(method, path, body, { authorization: 'Bearer dan' });
    const value = { title: 'dog', parts: [{ text: 'river' }], rest: 'apple' };
    await call('PUT', '/store/items', { namespace: ['fields'], key: 'k', value });
    const scoreOf = async (query: string) => {
      const answer = await call('POST', '/store/items/search', { namespace_prefix: ['fields'], query });
      return (answer.body as { items: Found[] }).items[0]?.score;
    };
    expect(await scoreOf('river')).toBeCloseTo(1, 5);
    expect(await scoreOf('apple')).toBeCloseTo(0, 5);
  });
});
