// What auth handlers get for each operation of the store, and that their changes have an effect.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestServer } from '../server.ts';
import { authProjects, type AuthProjects } from './auth-projects.ts';

let projects: AuthProjects;
let server: TestServer;
let file: string;
beforeAll(async () => {
  projects = authProjects();
  file = join(projects.dir, 'payloads.jsonl');
  server = await projects.serve(`
    import { appendFileSync } from 'node:fs';
    export const auth = new Auth()
      .authenticate(() => ({ identity: 'ann' }))
      .on('store', ({ event, value }) => {
        appendFileSync(${JSON.stringify(file)}, JSON.stringify({ event, value, fields: Object.keys(value) }) + '\\n');
        if (value.key === 'no-index') value.index = false;
        if (value.key === 'bad-index') value.index = 'title';
        return true;
      });`);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  projects[Symbol.dispose]();
});

const newest = (): { event: string; value: Record<string, unknown>; fields: string[] } =>
  JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '') as ReturnType<typeof newest>;

describe('the payload of a handler', () => {
  it.each<[string, string, string, object | undefined, Record<string, unknown>]>([
    [
      'store:put',
      'PUT',
      '/store/items',
      { namespace: ['a'], key: 'k', value: { title: 'x' }, index: ['title'], ttl: 60 },
      { namespace: ['a'], key: 'k', value: { title: 'x' }, index: ['title'] },
    ],
    [
      'store:put',
      'PUT',
      '/store/items',
      { namespace: ['a'], key: 'k', value: {}, index: false },
      { namespace: ['a'], key: 'k', value: {}, index: false },
    ],
    [
      'store:get',
      'GET',
      '/store/items?namespace=a.b&key=k&refresh_ttl=true',
      undefined,
      { namespace: ['a', 'b'], key: 'k' },
    ],
    [
      'store:delete',
      'DELETE',
      '/store/items',
      { namespace: ['a'], key: 'x' },
      { namespace: ['a'], key: 'x' },
    ],
    [
      'store:search',
      'POST',
      '/store/items/search',
      { namespace_prefix: ['a'], filter: { n: 1 }, query: 'q', limit: 3, offset: 2, refresh_ttl: false },
      { namespace: ['a'], filter: { n: 1 }, query: 'q', limit: 3, offset: 2 },
    ],
    [
      'store:list_namespaces',
      'POST',
      '/store/namespaces',
      { prefix: ['a'], suffix: ['b'], max_depth: 2, limit: 3, offset: 1 },
      { namespace: ['a'], suffix: ['b'], max_depth: 2, limit: 3, offset: 1 },
    ],
  ])('of %s has the documented fields (%s %s)', async (event, method, path, body, value) => {
    const headers = { authorization: 'Bearer x' };
    expect((await server.call(method, path, body, headers)).status).toBeLessThan(300);
    expect(newest()).toMatchObject({ event, value });
    expect(newest().fields.toSorted()).toEqual(Object.keys(value).toSorted());
  });

  it('has the index that a stock client sends, and none that it does not send', async () => {
    const client = new Client({ apiUrl: server.url });
    await client.store.putItem(['a'], 'stock', { title: 'x' }, { index: ['title'] });
    expect(newest().value).toEqual({
      namespace: ['a'],
      key: 'stock',
      value: { title: 'x' },
      index: ['title'],
    });
    await client.store.putItem(['a'], 'plain', { title: 'x' });
    expect(newest().value).toEqual({ namespace: ['a'], key: 'plain', value: { title: 'x' } });
  });

  it('is checked again when the handler changes the index', async () => {
    const put = (key: string) =>
      server.call('PUT', '/store/items', { namespace: ['a'], key, value: {} }, { authorization: 'Bearer x' });
    expect((await put('no-index')).status).toBe(204);
    expect(await put('bad-index')).toMatchObject({ status: 500, body: { code: 'internal' } });
  });
});
