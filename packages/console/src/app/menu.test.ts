import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('each page of the menu has a letter of its own', () => {
  const pages = fileURLToPath(new URL('..', import.meta.url));
  const files = readdirSync(pages)
    .map((name) => `${pages}/${name}/route.ts`)
    .filter((file) => existsSync(file));
  const letters = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/menu: \{.*key: '(\w)'/g)].map(([, letter = '']) => letter),
  );
  expect(letters.length).toBeGreaterThan(10);
  expect(letters).toEqual([...new Set(letters)]);
});
