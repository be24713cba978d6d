// Entry of an executor process: from TypeScript source in a checkout, from dist/ where it is installed.
import { existsSync } from 'node:fs';
import { register as registerHooks } from 'node:module';

// tsx passes every file of every package through its hooks; what is loaded before them loads several times faster.
await Promise.all([
  import('@langchain/core/documents'),
  import('@langchain/core/messages'),
  import('@langchain/langgraph'),
  import('@langchain/langgraph/prebuilt'),
  import('@langchain/langgraph/zod/schema'),
  import('@langchain/langgraph-checkpoint'),
  import('pg'),
]);
// Users' graphs may be TypeScript, so an executor always loads modules through tsx.
const { register } = await import('tsx/esm/api');
const loadedBefore = [];
let onImport = (url) => loadedBefore.push(url);
register({ onImport: (url) => onImport(url) });
registerHooks('./typescript-modules.js', import.meta.url);

const source = new URL('../src/app/executor.ts', import.meta.url);
const entry = existsSync(source) ? source : new URL('../dist/app/executor.js', import.meta.url);
const { startExecutor } = await import(entry.href);
onImport = startExecutor();
for (const url of loadedBefore) onImport(url);
