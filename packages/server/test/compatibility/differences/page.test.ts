import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { compatibilityPage } from './page.ts';

it('docs/compatibility.md has all listed differences: npm run generate', () => {
  const file = new URL('../../../../../docs/compatibility.md', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(compatibilityPage());
});
