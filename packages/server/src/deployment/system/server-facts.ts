// Versions and the OpenAPI document, computed once.
import { createRequire } from 'node:module';
import { defaultServer, openapiDocument, platformRoutes, type Routes } from '@svc/contract';
import { packageVersion, versionIn } from '../../config/package-files.ts';
import type { ServerFacts } from './system-handlers.ts';

/** `served`: the routes of the deployment API. */
export const serverFacts = (served: Routes): ServerFacts => {
  const svc_version = packageVersion();
  const langgraph_js_version = versionIn(
    createRequire(import.meta.url).resolve('@langchain/langgraph/package.json'),
  );
  // Built at the first request: it takes longer than the rest of the start. Later requests only replace the address in it.
  const routes = { ...served, ...platformRoutes };
  let text: string | undefined;
  return {
    svc_version,
    langgraph_js_version,
    openapi: (server) => {
      text ??= JSON.stringify(openapiDocument(routes, svc_version));
      return text.replaceAll(defaultServer, () => JSON.stringify(server).slice(1, -1));
    },
  };
};
