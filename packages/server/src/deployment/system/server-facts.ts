// Versions and the API reference, computed once.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { deploymentRoutes, openapiDocument, platformRoutes } from '@svc/contract';
import { docsPage } from './docs-page.ts';
import type { ServerFacts } from './system-handlers.ts';

const versionIn = async (file: string | URL): Promise<string> =>
  (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version;

export const serverFacts = async (): Promise<ServerFacts> => {
  const [svc_version, langgraph_js_version] = await Promise.all([
    versionIn(new URL('../../../package.json', import.meta.url)),
    versionIn(createRequire(import.meta.url).resolve('@langchain/langgraph/package.json')),
  ]);
  // Built at the first request: it takes longer than the rest of the start.
  let document: object | undefined;
  const openapi = (server: string): object => {
    document ??= openapiDocument({ ...deploymentRoutes, ...platformRoutes }, svc_version);
    return { ...document, servers: [{ url: server }] };
  };
  return {
    svc_version,
    langgraph_js_version,
    openapi: (server) => JSON.stringify(openapi(server)),
    docs: (server) => docsPage(openapi(server) as Record<string, unknown>),
  };
};
