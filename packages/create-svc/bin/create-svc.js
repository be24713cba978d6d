#!/usr/bin/env node
// Runs create-svc: from its TypeScript source in a checkout, from dist/ where it is installed.
import { existsSync } from 'node:fs';

const source = new URL('../src/main.ts', import.meta.url);
const checkout = existsSync(source);
if (checkout) (await import('tsx/esm/api')).register();
const { main } = await import(checkout ? source.href : new URL('../dist/main.js', import.meta.url).href);
await main(process.argv);
