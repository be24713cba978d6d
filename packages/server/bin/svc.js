#!/usr/bin/env node
// Runs the CLI: from its TypeScript source in a checkout, from dist/ where it is installed.

import { existsSync } from 'node:fs';

const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`svc needs Node.js 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const checkout = existsSync(source);
  if (checkout) await registerTypeScript();
  const { main } = await import(
    checkout ? source.href : new URL('../dist/cli/main.js', import.meta.url).href
  );
  await main(process.argv.slice(2));
}

async function registerTypeScript() {
  const args = process.argv.slice(2);
  const serves = ['dev', 'start'].includes(args[0]) && !args.includes('--help');
  // tsx passes every file of every package through its hooks; what is loaded before them loads several times faster.
  const heavy = serves ? ['zod', 'pino', 'hono', '@hono/node-server', 'pg'] : [];
  const [{ register }] = await Promise.all([import('tsx/esm/api'), ...heavy.map((name) => import(name))]);
  register();
}
