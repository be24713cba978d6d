// Entry of an exporter process: from TypeScript source in a checkout, from dist/ where it is installed.
import { existsSync } from 'node:fs';

const source = new URL('../src/exports/exporter/main.ts', import.meta.url);
if (existsSync(source)) {
  // tsx passes every file of every package through its hooks; what is loaded before them loads several times faster.
  const { register } = await import('tsx/esm/api');
  register();
  await import(source.href);
} else await import(new URL('../dist/exports/exporter/main.js', import.meta.url).href);
