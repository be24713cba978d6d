// Entry of an executor process: from TypeScript source in a checkout, from dist/ where it is installed.
import { existsSync } from 'node:fs';
import { registerProjectModules } from './project-modules.js';

// Users' graphs may be TypeScript. tsx passes every module through its hooks; what is loaded before them loads several times faster.
const loadedBefore = [];
let onImport = (url) => loadedBefore.push(url);
const [, , tsconfig] = process.argv;

const source = new URL('../src/app/executor.ts', import.meta.url);
const isCheckout = existsSync(source);
const entry = isCheckout ? source : new URL('../dist/app/executor.js', import.meta.url);
await Promise.all([
  import('@langchain/core/documents'),
  import('@langchain/core/messages'),
  import('@langchain/langgraph'),
  import('@langchain/langgraph/prebuilt'),
  import('@langchain/langgraph/zod/schema'),
  import('@langchain/langgraph-checkpoint'),
  // pg is a part of dist/ where the server is installed.
  import(isCheckout ? 'pg' : entry.href),
]);
const notices = await registerProjectModules({ tsconfig, onImport: (url) => onImport(url) });
const { startExecutor } = await import(entry.href);
onImport = startExecutor(notices);
for (const url of loadedBefore) onImport(url);
