// Facts about this server: versions and the API document.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { deploymentRoutes, openapiDocument } from '@svc/contract';
import { docsPage } from './docs-page.ts';
import type { ServerFacts } from './system-handlers.ts';

const versionIn = async (file: string | URL): Promise<string> =>
  (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version;

export const serverFacts = async (): Promise<ServerFacts> => {
  const [svc_version, langgraph_js_version] = await Promise.all([
    versionIn(new URL('../../../package.json', import.meta.url)),
    versionIn(createRequire(import.meta.url).resolve('@langchain/langgraph/package.json')),
  ]);
  // Built on the first request, because it takes longer than the rest of the start.
  let document: object | undefined;
  const openapi = (): object => (document ??= openapiDocument(deploymentRoutes, svc_version));
  return {
    svc_version,
    langgraph_js_version,
    openapi: () => JSON.stringify(openapi()),
    docs: () => docsPage(openapi() as Record<string, unknown>),
  };
};
