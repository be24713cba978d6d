// Projects whose embedding model is a package, or a module with this code.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';

export interface EmbedProjects extends Disposable {
  /** Writes a project with the embedding model and the files; returns the path of its svc.json. */
  write(embed: string, files: Record<string, string>): string;
}

const notes = fileURLToPath(new URL('./project/notes.ts:notes', import.meta.url));

export const embedProjects = (): EmbedProjects => {
  const dir = mkdtempSync(join(fileURLToPath(new URL('.', import.meta.url)), 'tmp-'));
  return {
    write(embed, files) {
      const config = { graphs: { notes }, store: { index: { dims: 2, embed } } };
      const all = { ...files, 'svc.json': JSON.stringify(config) };
      for (const [name, text] of Object.entries(all)) {
        mkdirSync(dirname(join(dir, name)), { recursive: true });
        writeFileSync(join(dir, name), text);
      }
      return join(dir, 'svc.json');
    },
    [Symbol.dispose]: () => rmSync(dir, { recursive: true }),
  };
};

export const item = (key: string, value: object, options: object = {}) => ({
  namespace: ['a'],
  key,
  value,
  ...options,
});

/** Expects that the failure of the module is logged at the start, and named by /ready and to clients. */
export const expectFailedModule = async (code: string, sentence: RegExp): Promise<void> => {
  using projects = embedProjects();
  const lines: string[] = [];
  const logger = createLogger(
    { level: 'error', format: 'json' },
    { write: (line: string) => lines.push(line) },
  );
  await using server = await startTestServer({
    project: projects.write('./embed.ts:embed', { 'embed.ts': code }),
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
  expect((await server.call('PUT', '/store/items', item('k', { text: 'x' }, { index: false }))).status).toBe(
    204,
  );
};
