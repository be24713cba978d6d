#!/usr/bin/env node
// Runs the CLI from dist/, or from the compiled sources in a checkout.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`svc needs Node.js 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const { main } = await (existsSync(source)
    ? importFromCheckout(source)
    : import(new URL('../dist/cli/main.js', import.meta.url).href));
  await main(process.argv.slice(2));
}

async function importFromCheckout(source) {
  const { compileCheckout } = await import(
    new URL('../../../scripts/build/checkout.mjs', import.meta.url).href
  );
  const folder = compileCheckout();
  if (folder !== undefined) return import(pathToFileURL(join(folder, 'dist/cli/main.js')).href);
  const { register } = await import('tsx/esm/api');
  register();
  return import(source.href);
}
