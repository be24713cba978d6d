// Health, metrics and facts of the server.
import { createRequire } from 'node:module';
import {
  defaultServer,
  openapiDocument,
  platformRoutes,
  type Routes,
  type systemRoutes,
} from '@svc/contract';
import { packageVersion, versionIn } from '../../config/package-files.ts';
import type { DisabledRoutes } from '../../config/project/route-switches.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { RawJson, type Handlers } from '../../api/handlers.ts';
import type { Readiness } from './readiness.ts';

/** Facts about the server that do not change while it runs. */
export interface ServerFacts {
  svc_version: string;
  langgraph_js_version: string;
  /** The OpenAPI document of both APIs as JSON text, for the address of the server. */
  openapi: (server: string) => string;
}

/** Computes the facts once. `served`: the routes of the deployment API. */
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

export interface SystemParts {
  database: { ping(): Promise<void> };
  readiness: Readiness;
  metrics: Metrics;
  facts: ServerFacts;
  disabled: DisabledRoutes;
}

export const systemHandlers = ({
  database,
  readiness,
  metrics,
  facts,
  disabled,
}: SystemParts): Handlers<typeof systemRoutes> => ({
  getOk: async ({ query }) => {
    if (query.check_stopping) readiness.checkStopping();
    if (query.check_db && !disabled.meta) await database.ping();
    return { ok: true } as const;
  },
  getReady: () => readiness.check(),
  getMetrics: () => metrics.text(),
  getInfo: () => ({
    version: facts.svc_version,
    svc_version: facts.svc_version,
    langgraph_js_version: facts.langgraph_js_version,
    context: 'js',
    flags: {
      assistants: !disabled.tags.has('Assistants'),
      threads: !disabled.tags.has('Threads'),
      runs: !disabled.tags.has('Runs'),
      store: !disabled.tags.has('Store'),
      ttl: true,
      crons: !disabled.tags.has('Crons'),
      langsmith: false,
    },
    metadata: {},
  }),
  getOpenApi: (_, { address }) => new RawJson(facts.openapi(address)),
});
