// Versions and the API reference, computed once.
import { createRequire } from 'node:module';
import { defaultServer, openapiDocument, platformRoutes, type Routes } from '@svc/contract';
import { packageVersion, versionIn } from '../../package-files.ts';
import { docsPage, escapeHtml } from './docs-page.ts';
import type { ServerFacts } from './system-handlers.ts';

/** Remembers what the first call has built. */
const once = <T extends object | string>(build: () => T): (() => T) => {
  let built: T | undefined;
  return () => (built ??= build());
};

/** `served`: the routes of the deployment API. */
export const serverFacts = async (served: Routes, hasGuide: boolean): Promise<ServerFacts> => {
  const [svc_version, langgraph_js_version] = await Promise.all([
    packageVersion(),
    versionIn(createRequire(import.meta.url).resolve('@langchain/langgraph/package.json')),
  ]);
  // Built at the first request: they take longer than the rest of the start. Later requests only replace the address in them.
  const routes = { ...served, ...platformRoutes };
  const document = once(() => openapiDocument(routes, svc_version));
  const text = once(() => JSON.stringify(document()));
  const page = once(() => docsPage(document(), hasGuide));
  return {
    svc_version,
    langgraph_js_version,
    has_guide: hasGuide,
    openapi: (server) => text().replaceAll(defaultServer, () => JSON.stringify(server).slice(1, -1)),
    docs: (server) => page().replaceAll(defaultServer, () => escapeHtml(server)),
  };
};
