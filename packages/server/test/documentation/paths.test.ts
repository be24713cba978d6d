// The files and folders that ARCHITECTURE.md and CONTRIBUTING.md name exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from './pages.ts';

const roots = ['', 'packages', 'packages/server', 'packages/server/src'];
/** Folders that Git ignores: a generator makes them, so a fresh checkout has none of them. */
const generated = readFileSync(join(repository, '.gitignore'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('/'))
  .map((line) => line.slice(1));

const isGenerated = (path: string): boolean => generated.some((folder) => `${path}/`.startsWith(folder));

/** Words between backticks that look like a path: at least one slash, and no spaces, placeholders or wildcards. */
const pathsOf = (page: string): string[] =>
  [...readFileSync(join(repository, page), 'utf8').matchAll(/`([a-z.][\w./-]*\/[\w./-]*)`/g)].map(
    ([, path = '']) => path,
  );

it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s names files and folders that exist', (page) => {
  const paths = pathsOf(page);
  expect(paths.length).toBeGreaterThan(5);
  const missing = paths.filter(
    (path) =>
      !roots.some((root) => isGenerated(join(root, path)) || existsSync(join(repository, root, path))),
  );
  expect(missing).toEqual([]);
});

it('docs/console.md shows every picture of the console', () => {
  const folder = join(repository, 'docs/console');
  const pictures = readdirSync(folder).filter((name) => name.endsWith('.png'));
  const shown = [
    ...readFileSync(join(repository, 'docs/console.md'), 'utf8').matchAll(/\(console\/([\w-]+\.png)\)/g),
  ];
  expect(new Set(shown.map(([, name]) => name))).toEqual(new Set(pictures));
});
