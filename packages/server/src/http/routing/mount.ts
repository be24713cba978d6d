// Registers the contract's routes with Hono. One function reads, validates, handles and answers a request, without middleware.
import type { IncomingHttpHeaders } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Routes, RouteShape, UnsupportedPath } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Hono } from 'hono';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import type { Authenticate, Caller } from '../../auth/principal/caller.ts';
import { type Call, type Handlers, Reply } from '../../api/handlers.ts';
import type { Parsing } from '../../parsing/parsing.ts';
import type { BodyLimits } from '../body/body.ts';
import { probePaths } from '../server/request-path.ts';
import { type Authenticated, type CallOptions, type HttpContext, type HttpEnv, RequestCall } from './call.ts';
import { type Input, readInput } from './input.ts';
import { HttpProblem, problemResponse } from '../server/problem.ts';
import {
  type AuditLogger,
  logAudit,
  logRequest,
  type RequestEntry,
  type RequestSpan,
  type StartRequestSpan,
} from '../server/request-log.ts';
import { logAnswer } from './log-answer.ts';
import { foreignPage, siteOf, type SiteRules } from '../server/request-site.ts';
import { isStream, type PathMethods, supportsHead } from './path-methods.ts';
import { respond, type ResponseOptions } from './respond.ts';

/** Called for every response when it is complete. */
export type Observe = (method: string, route: string, status: number, ms: number) => void;

/** The routes of one API, and who may use them. */
export interface Surface<T extends Routes = Routes> {
  routes: T;
  handlers: Handlers<T>;
  /** Called before anything of a request is read, for routes that are not public. */
  authenticate: Authenticate;
  authorizerFor: (caller: Caller) => Authorizer;
  /** Paths of stock clients that the API does not have. They answer 501 to everybody. */
  unsupported?: readonly UnsupportedPath[];
}

export interface MountOptions extends ResponseOptions, CallOptions {
  body: BodyLimits & Parsing;
  /** Called before a stream begins. The returned function is called when the stream has ended. */
  openStream?: ((caller: Caller) => () => void) | undefined;
  observe?: Observe | undefined;
  /** Absent when no spans are recorded. */
  startSpan?: StartRequestSpan | undefined;
  auditLogger: AuditLogger;
  /** Those of all routes of the app. */
  pathMethods: PathMethods;
  /** Selects the request headers that are logged. */
  loggedHeaders?: ((headers: Record<string, string>) => Record<string, string>) | undefined;
  /** The web pages that may send requests; all pages when absent. */
  sites?: SiteRules | undefined;
}

type AnyHandler = (input: Input, call: Call) => unknown;

/** Registers every route with its handler. */
export const mount = (app: Hono<HttpEnv>, surface: Surface, options: MountOptions): void => {
  for (const unsupported of surface.unsupported ?? []) refuse(app, unsupported, options);
  const routes = literalFirst(surface.routes);
  for (const [at, [name, route]] of routes.entries()) {
    const handler = surface.handlers[name] as unknown as AnyHandler;
    // The compiler requires it too; this check covers routes from untyped code.
    if ((route.access as unknown) === undefined) throw new Error(`Route ${name} has no access rule`);
    app.on(route.method.toUpperCase(), [route.path, ...(route.aliases ?? [])], (context) =>
      answer(name, route, handler, context, surface, options),
    );
    // With another method, a later route would take the last segment for its parameter.
    const isLast = routes[at + 1]?.[1].path !== route.path;
    if (isLast && options.pathMethods.isReserved(route.path))
      app.all(route.path, (context) => context.notFound());
  }
};

/** Registered before the routes, because a path such as `/runs/rules` is also one of `/runs/:id`. */
const refuse = (app: Hono<HttpEnv>, { path, what }: UnsupportedPath, options: MountOptions): void => {
  const respondWith501 = (context: HttpContext): Response => {
    const startedMs = performance.now();
    const { requestId } = new RequestCall(context, options);
    const problem = new Problem('not_supported', `This server does not have ${what}.`);
    const response = problemResponse(problem, requestId, options.logger);
    logAnswer(context, { route: path, requestId, startedMs, status: response.status }, options);
    return response;
  };
  app.all(path, respondWith501);
  app.all(`${path}/*`, respondWith501);
};

/** Hono takes the first match, so `/runs/stream` must come before `/runs/:run_id`. */
const literalFirst = (routes: Routes): [string, RouteShape][] => {
  const rank = ({ path }: RouteShape): string => path.replaceAll(/:[^/]+/g, '\uFFFF');
  return Object.entries(routes).toSorted(([, a], [, b]) =>
    rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0,
  );
};

const answer = async (
  name: string,
  route: RouteShape,
  handler: AnyHandler,
  context: HttpContext,
  surface: Surface,
  options: MountOptions,
): Promise<Response> => {
  const startedMs = performance.now();
  const call = new RequestCall(context, options);
  const { method } = context.req;
  call.span = spanOf(call, { method, route: route.path }, options.startSpan);
  let response: Response;
  let closeStream: (() => void) | undefined;
  let unwatch: (() => void) | undefined;
  // The caller's rights are no matter of JSON-RPC: these errors look as on every route.
  let isRpc = false;
  let params: unknown;
  let reply: unknown;
  let location: string | undefined;
  try {
    assertMethod(route, context, options.pathMethods);
    if (route.kind === 'socket') {
      if (options.sites) assertHandshake(context, options.sites);
      call.acceptTicket();
    }
    const known = authenticatedBefore(call, surface);
    await admit(call, route, surface, () => known?.caller ?? surface.authenticate(call));
    isRpc = route.kind === 'rpc';
    const input = await readInput(route, context, call, options.body);
    ({ params } = input);
    if (options.sites) assertSite(route, input, context, options.sites);
    if (isStream(route)) {
      closeStream = options.openStream?.(call.caller);
      // The client connects again, and is refused then.
      unwatch = call.caller.watch?.(() => (call.outgoing ?? call.streamed)?.destroy());
    }
    reply = await handler(input, call);
    assertAuthorized(name, route, call.authorizer);
    // Middleware may have changed the credentials since the first authentication.
    const credentials = known?.credentials ?? call;
    const renew = (): Promise<RequestCall> =>
      admit(call.next(), route, surface, () => surface.authenticate(credentials));
    response = await respond(route, reply, call, { ...options, renew });
    // Not read from the response: Hono creates a Headers object for that.
    if (reply instanceof Reply) location = reply.facts.self;
  } catch (error) {
    response = problemResponse(error, call.requestId, options.logger, { isRpc });
  }
  const { outgoing, outer, streamed } = call;
  const entry: RequestEntry = {
    route: route.path,
    requestId: call.requestId,
    startedMs,
    status: response.status,
    location,
    headers: options.loggedHeaders?.(call.headers()),
  };
  outer?.onAnswer?.(entry);
  // Without a caller, nothing was about to be changed.
  if (route.audited !== undefined && response.status !== 401) {
    const { caller, requestId } = call;
    const { status } = response;
    logAudit(options.auditLogger, { action: route.audited, caller, params, reply, status, requestId });
  }
  const finish = (): void => {
    closeStream?.();
    unwatch?.();
    call.finish();
    if (outer?.onAnswer) return;
    options.observe?.(method, route.path, entry.status, performance.now() - startedMs);
    call.span?.end(entry);
    logRequest(options.logger, method, { ...entry, ids: call.span?.ids });
  };
  if (response === RESPONSE_ALREADY_SENT && outgoing?.destroyed === false) {
    entry.status = outgoing.statusCode;
    outgoing.once('close', finish);
  } else if (streamed?.destroyed === false) streamed.once('close', finish);
  else finish();
  return response;
};

/** The authentication before the project's middleware, if it is that of the route. */
const authenticatedBefore = ({ outer }: RequestCall, { authenticate }: Surface): Authenticated | undefined =>
  outer?.authenticated?.by === authenticate ? outer.authenticated : undefined;

/** Sets the caller of the call and the caller's rights. Returns the call. */
const admit = async (
  call: RequestCall,
  { access }: RouteShape,
  { authorizerFor }: Surface,
  authenticate: () => Promise<Caller> | Caller,
): Promise<RequestCall> => {
  if (access === 'public') return call;
  call.caller = await authenticate();
  call.authorizer = authorizerFor(call.caller);
  if (access !== 'caller') call.authorizer.authorizeRoute(access);
  return call;
};

/** A handler that responds without an authorization check is a bug; its response is discarded. */
const assertAuthorized = (name: string, { access }: RouteShape, authorizer: Authorizer): void => {
  if (access === 'public' || access === 'caller' || authorizer.hasAuthorized(access)) return;
  throw new Error(`Route ${name} has responded without an authorization check`);
};

/** Hono answers HEAD with the GET handler. */
const assertMethod = (route: RouteShape, context: HttpContext, pathMethods: PathMethods): void => {
  if (context.req.method !== 'HEAD' || supportsHead(route)) return;
  const message = isStream(route)
    ? 'Streams do not support HEAD.'
    : 'A GET of this path changes something; it does not support HEAD.';
  throw new HttpProblem(405, 'method_not_allowed', message, { allow: pathMethods.allow(context.req.path) });
};

/** No browser sends a preflight before the handshake of a WebSocket, whatever its credential, such as a ticket. */
const assertHandshake = (context: HttpContext, rules: SiteRules): void => {
  if (siteOf(headersOf(context), { ...rules, sameSite: true }) === 'foreign') throw foreignPage();
};

const headersOf = (context: HttpContext): IncomingHttpHeaders =>
  context.env?.incoming?.headers ?? Object.fromEntries(context.req.raw.headers);

/**
 * Pages of other origins may not send a GET that changes data. Nor may they open a stream: it would count as one of the user whose
 * cookie the browser sends. A route that changes data when the client disconnects needs a header that shows the origin of the request.
 */
const assertSite = (route: RouteShape, { query }: Input, context: HttpContext, rules: SiteRules): void => {
  const { method, changes } = route;
  if (method !== 'get') return;
  const isRequested =
    typeof changes === 'object' && (query as Record<string, unknown>)[changes.when] === true;
  if (!isRequested && changes !== 'always' && !isStream(route)) return;
  const site = siteOf(headersOf(context), rules);
  if (site === 'foreign') throw foreignPage();
  if (site === 'unknown' && isRequested)
    throw new Problem(
      'forbidden',
      `With a cookie, ${changes.when} needs a header that shows the origin of the request: Origin, Sec-Fetch-Site, or X-Requested-With with any value.`,
    );
};

/** The span of a built-in route. Behind the project's app, the span is that of the client's request. Requests of probes have none. */
const spanOf = (
  call: RequestCall,
  { method, route }: { method: string; route: string },
  start: StartRequestSpan | undefined,
): RequestSpan | undefined => {
  if (call.outer?.onAnswer) return call.outer.span;
  return probePaths.has(route) ? undefined : start?.(method, (name) => call.header(name));
};
