// Entry of an executor process: from TypeScript source in a checkout, from dist/ where it is installed.
import { existsSync } from 'node:fs';
import { register as registerHooks } from 'node:module';
import { register as registerTypeScript } from 'tsx/esm/api';

/** Users' graphs may be TypeScript. tsx passes every module through its hooks; what is loaded before them loads several times faster. */
const registerTypeScriptHooks = () => {
  registerTypeScript();
  registerHooks('./typescript-modules.js', import.meta.url);
};

const source = new URL('../src/app/executor.ts', import.meta.url);
if (existsSync(source)) {
  await Promise.all([
    import('@langchain/core/documents'),
    import('@langchain/core/messages'),
    import('@langchain/langgraph'),
    import('@langchain/langgraph/prebuilt'),
    import('@langchain/langgraph/zod/schema'),
    import('@langchain/langgraph-checkpoint'),
    import('pg'),
  ]);
  registerTypeScriptHooks();
  const { serveRuns } = await import(source.href);
  serveRuns();
} else {
  const [{ serveRuns }] = await Promise.all([
    import(new URL('../dist/app/executor.js', import.meta.url).href),
    import('@langchain/langgraph/prebuilt'),
    import('@langchain/langgraph/zod/schema'),
  ]);
  registerTypeScriptHooks();
  serveRuns();
}
