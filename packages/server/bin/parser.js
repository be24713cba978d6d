// Entry of a parser thread: from TypeScript source in a checkout, from dist/ where it is installed.
import { existsSync } from 'node:fs';

const source = new URL('../src/app/parser.ts', import.meta.url);
if (existsSync(source)) {
  const { register } = await import('tsx/esm/api');
  register();
  await import(source.href);
} else await import(new URL('../dist/app/parser.js', import.meta.url).href);
