import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { llmsText } from './llms-text.ts';

const at = (path: string): URL => new URL(`../../../../${path}`, import.meta.url);
const readme = readFileSync(at('README.md'), 'utf8');

it('docs/llms.txt has the pages of the README (npm run generate)', () => {
  expect(readFileSync(at('docs/llms.txt'), 'utf8')).toBe(llmsText(readme));
});

it('it lists every page', () => {
  const listed = new Set([...llmsText(readme).matchAll(/\]\(([^)]+\.md)\):/g)].map(([, file]) => file));
  expect(listed).toEqual(new Set(readdirSync(at('docs')).filter((file) => file.endsWith('.md'))));
});
