import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

interface Chunk {
  file: string;
  src?: string;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
}

const folder = join(import.meta.dirname, '../../server/console');
const manifest = JSON.parse(await readFile(join(folder, '.vite/manifest.json'), 'utf8')) as Record<
  string,
  Chunk
>;

const gzipBytes = async (file: string): Promise<number> =>
  gzipSync(await readFile(join(folder, file))).length;

/** The chunk with everything that it imports at once. */
const withImports = (name: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const next of manifest[name]?.imports ?? []) withImports(next, seen);
  return seen;
};

const filesOf = (names: Iterable<string>): Set<string> =>
  new Set([...names].flatMap((name) => [manifest[name]?.file ?? '', ...(manifest[name]?.css ?? [])]));

const sum = async (files: Iterable<string>): Promise<number> =>
  (await Promise.all([...files].map(gzipBytes))).reduce((total, bytes) => total + bytes, 0);

const entry = 'index.html';
/** The API reference is a document of its own, with Swagger UI. */
const reference = 'reference.html';

it('the first load has at most 250 kB, compressed', async () => {
  const bytes = await sum(filesOf(withImports(entry)));
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThan(250_000);
});

it('each further page has at most 150 kB, compressed', async () => {
  const first = filesOf(withImports(entry));
  const later = Object.keys(manifest).filter(
    (name) => manifest[name]?.src !== undefined && ![entry, reference].includes(name),
  );
  expect(later.length).toBeGreaterThan(6);
  for (const name of later) {
    const files = [...filesOf(withImports(name))].filter((file) => !first.has(file));
    expect([name, (await sum(files)) < 150_000]).toEqual([name, true]);
  }
});

it('the first load contains neither the graph view, nor plots, nor the renderer of Markdown', () => {
  const names = [...withImports(entry)].map((name) => manifest[name]?.src ?? name);
  expect(names.filter((name) => /graph-view|markdown|plot-canvas|uplot/.test(name))).toEqual([]);
});
