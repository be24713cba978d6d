// Embedding models that come from packages, and those that cannot be loaded.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(fileURLToPath(new URL('.', import.meta.url)), 'tmp-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const notes = fileURLToPath(new URL('./project/notes.ts:notes', import.meta.url));

const project = (embed: string, files: Record<string, string>): string => {
  const config = { graphs: { notes }, store: { index: { dims: 2, embed } } };
  const all = { ...files, 'svc.json': JSON.stringify(config) };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return join(dir, 'svc.json');
};

const item = (key: string, value: object, options: object = {}) => ({
  namespace: ['a'],
  key,
  value,
  ...options,
});

describe('the embedding model', () => {
  it('of a provider that cannot be created is named with the reason', async () => {
    const files = {
      'node_modules/@langchain/openai/package.json': '{"name": "@langchain/openai", "main": "index.js"}',
      'node_modules/@langchain/openai/index.js': `exports.OpenAIEmbeddings = class {
        constructor() { throw new Error('OPENAI_API_KEY is missing'); }
      };`,
    };
    await using server = await startTestServer({ project: project('openai:text-embedding-3-x', files) });
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
    await using server = await startTestServer({ project: project('openai:text-embedding-3-x', files) });
    await server.call('PUT', '/store/items', item('k', { text: 'text-embedding-3-x2' }));
    const body = { query: 'text-embedding-3-x2' };
    const { body: found } = await server.call('POST', '/store/items/search', body);
    expect((await server.call('GET', '/ready')).body).not.toHaveProperty('failed_store_index');
    const { items } = found as { items: { key: string; score: number }[] };
    expect(items.map(({ key, score }) => [key, Math.round(score * 100)])).toEqual([['k', 100]]);
  });

  it.each([
    ['throws when it is imported', `throw new Error('no model here');`, /no model here/],
    ['does not have the export', 'export const other = 1;', /does not export embed; it exports other/],
    [
      'exports something else',
      'export const embed = 1;',
      /neither a function \(texts\) => vectors nor an object/,
    ],
  ])('that %s is logged at the start, and named by /ready and to clients', async (_, code, sentence) => {
    const lines: string[] = [];
    const logger = createLogger(
      { level: 'error', format: 'json' },
      { write: (line: string) => lines.push(line) },
    );
    await using server = await startTestServer({
      project: project('./embed.ts:embed', { 'embed.ts': code }),
      logger,
    });
    await eventually(() => expect(lines.join('')).toMatch(sentence));
    const name = 'store.index.embed "./embed.ts:embed" cannot be loaded: ';
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      expect.stringContaining(name),
    ]);
    expect(await server.call('GET', '/ready')).toMatchObject({
      status: 200,
      body: { ready: true, failed_store_index: true },
    });
    for (const [method, path, body] of [
      ['PUT', '/store/items', item('k', { text: 'x' })],
      ['POST', '/store/items/search', { query: 'x' }],
    ] as const)
      expect(await server.call(method, path, body)).toMatchObject({
        status: 503,
        body: { message: expect.stringMatching(new RegExp(`^${name}.*${sentence.source}`)) as string },
      });
    expect(await server.call('POST', '/store/items/search', {})).toMatchObject({ status: 200 });
    expect(
      (await server.call('PUT', '/store/items', item('k', { text: 'x' }, { index: false }))).status,
    ).toBe(204);
  });
});
