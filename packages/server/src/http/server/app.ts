import { Problem } from '@svc/contract/problem';
import { Hono } from 'hono';
import { createSchemeOf, type SchemeOf } from '../../auth/principal/client-address.ts';
import { type JsonLimits, requestLimits } from '../../json/json-limits.ts';
import type { Parsing } from '../../parsing/parsing.ts';
import { type HttpContext, type HttpEnv, requestIdOf } from '../routing/call.ts';
import type { AuditLogger } from './request-log.ts';
import { emptyHeaders, htmlHeaders, jsonHeaders } from './headers.ts';
import { BuiltPage } from '../pages/built-page.ts';
import { mount, type MountOptions, type Observe, type Surface } from '../routing/mount.ts';
import type { OpenStreams } from '../streams/sse.ts';
import { type HttpLogger, problemResponse } from './problem.ts';
import { rawPath, urlCharsMax, withoutPrefix } from './request-path.ts';
import { logAnswer } from '../routing/log-answer.ts';
import { PathMethods } from '../routing/path-methods.ts';

export interface AppOptions {
  surfaces: readonly Surface[];
  logger: HttpLogger;
  limits?: { bodyBytes?: number; json?: JsonLimits; uploadBytes?: number } | undefined;
  parsing: Parsing;
  /** Interval between heartbeats of a stream. */
  heartbeatMs?: number | undefined;
  /** How long a deferred response may take before its head is sent; also the interval between the newlines that follow. */
  deferredMs?: number | undefined;
  /** Bytes that may wait for a client that does not read its stream. */
  streamBufferBytes?: number | undefined;
  /** How long a client may read nothing of a large response before it is disconnected. */
  stalledMs?: number | undefined;
  observe?: Observe | undefined;
  startSpan?: MountOptions['startSpan'];
  /** `logger` when absent. */
  auditLogger?: AuditLogger | undefined;
  /** Path before all routes, such as `/agents`; empty by default. */
  prefix?: string | undefined;
  /** The scheme that a client has used; without it no proxy is trusted. */
  schemeOf?: SchemeOf | undefined;
  loggedHeaders?: MountOptions['loggedHeaders'];
  /** Rejects a stream, or counts it until the returned function is called. */
  openStream?: MountOptions['openStream'];
  /** The web pages that may send requests; all pages when absent. */
  sites?: MountOptions['sites'];
  upgrades?: MountOptions['upgrades'];
  /** Gets the event streams while they are open. */
  streams?: OpenStreams;
  /** The folder of the built console; no console when absent. */
  consoleFolder?: URL | undefined;
  /** The folder of the built API reference; no reference when absent. */
  referenceFolder?: URL | undefined;
}

/** For a browser that opens the address of the server. */
const rootPage = (prefix: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>svc</title>
<h1>svc</h1>
<p>This is an agent server. It answers API clients, for example those of the LangGraph SDK.</p>
<ul>
<li><a href="${prefix}/docs">API reference</a> (<a href="${prefix}/openapi.json">OpenAPI</a>)</li>
<li><a href="${prefix}/info">Version</a>, <a href="${prefix}/ready">readiness</a>, <a href="${prefix}/metrics">metrics</a></li>
</ul>
</html>
`;

/** The HTTP side of the server: every route of the contract, and a well-formed response to any other request. */
export const createApp = (options: AppOptions): Hono<HttpEnv> => {
  const { surfaces, logger, limits, prefix = '', deferredMs = 1000 } = options;
  const pathInPrefix = withoutPrefix(prefix);
  const pathOf = (request: Request, env: HttpEnv['Bindings'] = {}): string =>
    env.outer?.isInsidePrefix === true ? rawPath(request) : pathInPrefix(rawPath(request));
  const app = new Hono<HttpEnv>({
    getPath: (request, given) => pathOf(request, given?.env as HttpEnv['Bindings'] | undefined),
  });
  const table = surfaces.flatMap(({ routes }) => Object.values(routes));
  const pathMethods = new PathMethods([...table, { method: 'get', path: '/' }]);
  const mounting = {
    prefix,
    schemeOf: options.schemeOf ?? createSchemeOf([]),
    logger,
    observe: options.observe,
    startSpan: options.startSpan,
    auditLogger: options.auditLogger ?? logger,
    loggedHeaders: options.loggedHeaders,
    openStream: options.openStream,
    sites: options.sites,
    upgrades: options.upgrades,
    pathMethods,
    body: {
      bytesMax: limits?.bodyBytes ?? 20_000_000,
      uploadBytesMax: limits?.uploadBytes ?? 100_000_000,
      json: limits?.json ?? requestLimits,
      ...options.parsing,
    },
    sse: {
      heartbeatMs: options.heartbeatMs ?? 5000,
      bufferBytesMax: options.streamBufferBytes ?? 1_048_576,
      open: options.streams,
    },
    deferred: { waitMs: deferredMs, newlineMs: deferredMs },
    unsent: { memory: options.parsing.memory, stalledMs: options.stalledMs ?? 30_000 },
  };
  for (const surface of surfaces) mount(app, surface, mounting);
  const { consoleFolder, referenceFolder, startSpan } = options;
  const answering = { prefix, logger, startSpan, pathOf, idOf };
  const console = consoleFolder && new BuiltPage('console', { ...answering, folder: consoleFolder });
  console?.mount(app);
  if (referenceFolder) new BuiltPage('reference', { ...answering, folder: referenceFolder }).mount(app);
  if (!table.some(({ method, path }) => method === 'get' && path === '/')) {
    app.get('/', async (context) => {
      if (!(context.req.header('accept') ?? '').includes('text/html'))
        return new Response('{"ok":true}', { headers: withId(jsonHeaders, context) });
      const redirect = await console?.redirect(context.req.raw);
      return redirect ?? new Response(rootPage(prefix), { headers: withId(htmlHeaders, context) });
    });
  }
  app.notFound((context) => {
    const startedMs = performance.now();
    const requestId = idOf(context);
    const path = pathOf(context.req.raw, context.env);
    const response = unmatched(context, path, { pathMethods, requestId, logger });
    logAnswer(context, { route: '*', requestId, startedMs, status: response.status }, mounting);
    return response;
  });
  app.onError((error, context) => problemResponse(error, idOf(context), logger));
  return app;
};

const idOf = (context: HttpContext): string =>
  context.env?.outer?.requestId ?? requestIdOf(context.req.header('x-request-id'));

const withId = (headers: Record<string, string>, context: HttpContext): Record<string, string> => ({
  ...headers,
  'x-request-id': idOf(context),
});

const unmatched = (
  context: HttpContext,
  path: string,
  { pathMethods, requestId, logger }: { pathMethods: PathMethods; requestId: string; logger: HttpLogger },
): Response => {
  if (path === '') {
    const long = new Problem('too_large', `The URL is longer than ${urlCharsMax} characters.`);
    return problemResponse(long, requestId, logger, { status: 414 });
  }
  const allow = pathMethods.allow(path);
  if (allow === '') {
    return problemResponse(new Problem('not_found', 'No route has this path.'), requestId, logger);
  }
  if (context.req.method === 'OPTIONS') {
    return new Response(null, { status: 204, headers: { ...withId(emptyHeaders, context), allow } });
  }
  const refused = new Problem(
    'method_not_allowed',
    `This path supports ${allow}, not ${context.req.method}.`,
  );
  return problemResponse(refused, requestId, logger, { headers: { allow } });
};
