// Embedding models that come from packages, and those that cannot be loaded.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { type EmbedProjects, embedProjects, expectFailedModule, item } from './embed-projects.ts';

let projects: EmbedProjects;
beforeEach(() => {
  projects = embedProjects();
});
afterEach(() => projects[Symbol.dispose]());

describe('the embedding model', () => {
  it('of a provider that cannot be created is named with the reason', async () => {
    const files = {
      'node_modules/@langchain/openai/package.json': '{"name": "@langchain/openai", "main": "index.js"}',
      'node_modules/@langchain/openai/index.js': `exports.OpenAIEmbeddings = class {
        constructor() { throw new Error('OPENAI_API_KEY is missing'); }
      };`,
    };
    await using server = await startTestServer({
      project: projects.write('openai:text-embedding-3-x', files),
    });
    const answer = await server.call('POST', '/store/items/search', { query: 'x' });
    expect(answer).toMatchObject({
      status: 503,
      body: {
        message: 'store.index.embed "openai:text-embedding-3-x" cannot be loaded: OPENAI_API_KEY is missing',
      },
    });
    await eventually(async () =>
      expect((await server.call('GET', '/ready')).body).toMatchObject({ failed_store_index: true }),
    );
  });

  it('of a provider is that of the package in the project', async () => {
    const files = {
      'node_modules/@langchain/openai/package.json': '{"name": "@langchain/openai", "main": "index.js"}',
      'node_modules/@langchain/openai/index.js': `exports.OpenAIEmbeddings = class {
        constructor({ model, dimensions }) { this.vector = (text) => [text.includes(model + dimensions) ? 1 : 0, 1]; }
        async embedDocuments(texts) { return texts.map(this.vector); }
        async embedQuery(text) { return this.vector(text); }
      };`,
    };
    await using server = await startTestServer({
      project: projects.write('openai:text-embedding-3-x', files),
    });
    await server.call('PUT', '/store/items', item('k', { text: 'text-embedding-3-x2' }));
    const body = { query: 'text-embedding-3-x2' };
    const { body: found } = await server.call('POST', '/store/items/search', body);
    expect((await server.call('GET', '/ready')).body).not.toHaveProperty('failed_store_index');
    const { items } = found as { items: { key: string; score: number }[] };
    expect(items.map(({ key, score }) => [key, Math.round(score * 100)])).toEqual([['k', 100]]);
  });

  it('that throws when it is imported is logged at the start, and named by /ready and to clients', () =>
    expectFailedModule(`throw new Error('no model here');`, /no model here/));
});
