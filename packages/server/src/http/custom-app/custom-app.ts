// Serves the project's Hono app with the built-in routes as its fallback. The built-in routes serve requests that match no route of the app,
// so the app's middleware runs around them.
//
//   request ─▶ probe? ─yes─▶ built-in routes
//                └─no─▶ authenticate, if configured ─▶ app.fetch() ─▶ middleware ─▶ a route of the app
//                                                                        └─ notFound() ─▶ built-in routes
//
// The app is used by its interface only, because it may come from another copy of hono. The built-in routes get a Fetch API Request, and
// return a Response with a stream, because middleware may replace both.
import type { HttpBindings } from '@hono/node-server';
import { Problem } from '@svc/contract/problem';
import type { Hono } from 'hono';
import type { RouteShape } from '@svc/contract';
import { TrieRouter } from 'hono/router/trie-router';
import type { Authenticate } from '../../auth/principal/caller.ts';
import { limitedBody } from '../body/limited-body.ts';
import { tooLarge } from '../body/body.ts';
import { type CallOptions, type HttpEnv, RequestCall, requestIdOf } from '../routing/call.ts';
import type { Observe, Surface } from '../routing/mount.ts';
import type { StartRequestSpan } from '../server/request-log.ts';
import { noPath, probePaths, rawPath, withoutPrefix } from '../server/request-path.ts';
import { type HttpLogger, problemResponse } from '../server/problem.ts';
import { Exchange } from './exchange.ts';
import { innerRequest } from './inner-request.ts';
import {
  hasDefaultErrors,
  isRoute,
  mountUserApp,
  routeFor,
  type UserApp,
  type UserContext,
} from './user-app.ts';

export interface CustomAppOptions extends CallOptions {
  app: UserApp;
  isAuthFirst: boolean;
  isAuthenticated: boolean;
  /** Authenticates requests that no built-in route serves. */
  authenticate: Authenticate;
  surfaces: readonly Surface[];
  /** Paths without the prefix; everybody may read the built-in files at and below them. */
  publicFolders: readonly string[];
  limits: { bodyBytes: number; uploadBytes: number };
  logger: HttpLogger;
  observe: Observe | undefined;
  startSpan?: StartRequestSpan | undefined;
  loggedHeaders: ((headers: Record<string, string>) => Record<string, string>) | undefined;
  /** Runs code of the app, so that its `new Client()` calls this server, and this server logs its uncaught errors. */
  inside: <T>(work: () => T) => T;
  /** Runs code of the server that the app has called. */
  outside: <T>(work: () => T) => T;
}

// Keys in `context.env` of the app, because one app object may serve several servers: the user, the built-in routes, and the logger. They are
// absent where the app calls its own `request()`.
const authKey = Symbol.for('svc:auth');
const fallbackKey = Symbol.for('svc:fallback');
const loggerKey = Symbol.for('svc:logger');

interface AppEnv extends Partial<HttpBindings> {
  /** The user, when the request was authenticated before the app. */
  [authKey]?: { user: unknown; scopes: readonly string[] };
  [fallbackKey]: (context: UserContext) => Promise<Response>;
  [loggerKey]: HttpLogger;
}

/** The Fetch API cannot create requests with these methods. */
const unsupportedMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

export class CustomApp {
  readonly #inner: Hono<HttpEnv>;
  readonly #options: CustomAppOptions;
  /** The project's app, which gets the user in its variables. */
  readonly #mounted: UserApp;
  readonly #builtIn: BuiltInRoutes;
  readonly #pathOf: (request: Request) => string;

  constructor(inner: Hono<HttpEnv>, options: CustomAppOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#builtIn = new BuiltInRoutes(options.surfaces);
    const pathInPrefix = withoutPrefix(options.prefix);
    this.#pathOf = (request) => pathInPrefix(rawPath(request));
    const { app } = options;
    this.#mounted = mountUserApp(app, setUser);
    this.#mounted.notFound(fallback);
    this.#mounted.onError(responseTo);
    // For requests that the app sends to itself.
    if (hasDefaultErrors(app)) app.onError(responseTo);
  }

  get warnings(): string[] {
    return this.#builtIn.conflicts(this.#options.app);
  }

  readonly fetch = (request: Request, env: HttpEnv['Bindings'] = {}): Response | Promise<Response> => {
    const path = this.#pathOf(request);
    // Requests of probes and scrapers never reach the app.
    const isInner =
      path === '' || path === noPath || probePaths.has(path) || unsupportedMethods.has(request.method);
    return isInner ? this.#inner.fetch(request, env) : this.#serve(request, env, path);
  };

  /** Sends a request of the server itself to the routes of the app only. Its body is not limited. */
  readonly fetchCustom = (request: Request): Promise<Response> =>
    this.#serve(request, {}, this.#pathOf(request), { isCustomOnly: true });

  async #serve(
    request: Request,
    env: HttpEnv['Bindings'],
    path: string,
    { isCustomOnly = false } = {},
  ): Promise<Response> {
    const { app, logger, inside, limits, observe, startSpan, loggedHeaders } = this.#options;
    const builtIn = this.#builtIn.find(request.method, path);
    const clientBytesMax = builtIn?.route.upload === undefined ? limits.bodyBytes : limits.uploadBytes;
    const bytesMax = isCustomOnly ? Infinity : clientBytesMax;
    const exchange = new Exchange(request, env, { logger, observe, startSpan, loggedHeaders });
    let response: Response;
    try {
      const outer = await this.#outerRequest(request, path, exchange, bytesMax);
      const route = routeFor(app, request.method, app.getPath(outer, { env }));
      exchange.route = route?.path ?? '*';
      // Public, because no route of the app serves them: the page at `/`, built-in files, and preflights.
      const isOpen =
        route === undefined && (path === '/' || this.#isPublicFile(path, builtIn) || isPreflight(request));
      if (!isOpen) await this.#authenticate(request, env, exchange, route ? undefined : builtIn);
      response = await inside(() =>
        this.#mounted.fetch(outer, this.#appEnv(outer, env, exchange, isCustomOnly)),
      );
      if (!(response instanceof Object && 'status' in response))
        throw new TypeError('The app returned no Response');
    } catch (error) {
      response = problemResponse(error, exchange.requestId, logger);
    }
    if (exchange.excess) response = problemResponse(exchange.excess, exchange.requestId, logger);
    return exchange.finish(response);
  }

  #isPublicFile(path: string, builtIn: BuiltInRoute | undefined): boolean {
    const { publicFolders } = this.#options;
    return !builtIn && publicFolders.some((folder) => path === folder || path.startsWith(`${folder}/`));
  }

  async #authenticate(
    request: Request,
    env: HttpEnv['Bindings'],
    exchange: Exchange,
    builtIn: BuiltInRoute | undefined,
  ): Promise<void> {
    const { isAuthFirst, isAuthenticated, authenticate } = this.#options;
    const isNeeded = builtIn ? isAuthFirst && builtIn.route.access !== 'public' : isAuthenticated;
    if (!isNeeded) return;
    const by = builtIn?.surface.authenticate ?? authenticate;
    const call = new RequestCall({ req: { raw: request, url: request.url }, env }, this.#options);
    if (builtIn?.route.kind === 'socket') call.acceptTicket();
    exchange.authenticated = { by, credentials: call, caller: await by(call) };
  }

  #appEnv(outer: Request, env: HttpEnv['Bindings'], exchange: Exchange, isCustomOnly: boolean): AppEnv {
    const { incoming, outgoing } = env;
    const user = exchange.authenticated?.caller.user;
    return {
      ...(incoming && outgoing ? { incoming, outgoing } : {}),
      ...(user === undefined ? {} : { [authKey]: { user, scopes: user.permissions } }),
      [loggerKey]: this.#options.logger,
      [fallbackKey]: async (context) => {
        if (isCustomOnly) {
          const missing = new Problem('not_found', 'No route of http.app has this path.');
          return problemResponse(missing, exchange.requestId, this.#options.logger);
        }
        const response = await this.#serveInner(context, outer, exchange);
        // `newResponse` keeps the headers that middleware has set before.
        return context.newResponse(response.body, response);
      },
    };
  }

  async #serveInner(context: UserContext, outer: Request, exchange: Exchange): Promise<Response> {
    let request: Request;
    try {
      request = await innerRequest(context, outer);
    } catch (error) {
      return problemResponse(error, exchange.requestId, this.#options.logger);
    }
    return this.#options.outside(() => this.#inner.fetch(request, { outer: exchange.outer() }));
  }

  /** The request for the app: its path has no prefix, it has an id, and its body is limited. */
  async #outerRequest(
    request: Request,
    path: string,
    exchange: Exchange,
    bytesMax: number,
  ): Promise<Request> {
    const { method, headers: sent, signal } = request;
    if (Number(sent.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax);
    const headers = new Headers(sent);
    headers.set('x-request-id', exchange.requestId);
    const url = new URL(request.url);
    const read = exchange.readBody;
    const sentBody = read === undefined ? request.body : new Response(read.slice()).body;
    const body = method === 'GET' || method === 'HEAD' ? null : sentBody;
    if (read !== undefined) {
      headers.delete('content-encoding');
      headers.set('content-length', String(read.length));
    }
    const limited = body && limitedBody(body, bytesMax, () => exchange.exceed(tooLarge(bytesMax)));
    return new Request(`${url.origin}${path}${url.search}`, {
      method,
      headers,
      signal,
      ...(limited ? { body: limited, duplex: 'half' } : {}),
    });
  }
}

/** Sets `context.var.auth`, as the stock server does. */
const setUser = async (context: UserContext, next: () => Promise<void>): Promise<void> => {
  const auth = (context.env as AppEnv)[authKey];
  if (auth !== undefined) context.set('auth', auth);
  await next();
};

const fallback = (context: UserContext): Response | Promise<Response> => {
  const serve = (context.env as Partial<AppEnv> | undefined)?.[fallbackKey];
  return serve ? serve(context) : new Response('404 Not Found', { status: 404 });
};

const isPreflight = ({ method, headers }: Request): boolean =>
  method === 'OPTIONS' && headers.has('access-control-request-method');

/** Like Hono's own error handler, except for errors without a response. */
const responseTo = (error: Error, context: UserContext): Response => {
  if ('getResponse' in error && typeof error.getResponse === 'function') {
    const response = error.getResponse() as Response;
    return context.newResponse(response.body, response);
  }
  const logger = (context.env as Partial<AppEnv> | undefined)?.[loggerKey];
  if (logger === undefined) throw error;
  const requestId = requestIdOf(context.req.raw.headers.get('x-request-id') ?? undefined);
  const response = problemResponse(error, requestId, logger);
  return context.newResponse(response.body, response);
};

// Finds the built-in route of a path, and the routes of the project's app that hide built-in ones.

interface BuiltInRoute {
  readonly route: RouteShape;
  readonly surface: Surface;
}

class BuiltInRoutes {
  readonly #router = new TrieRouter<BuiltInRoute>();
  readonly #table: { method: string; path: string }[] = [];

  constructor(surfaces: readonly Surface[]) {
    for (const surface of surfaces)
      for (const route of Object.values(surface.routes))
        for (const path of [route.path, ...(route.aliases ?? [])]) {
          const method = route.method.toUpperCase();
          this.#router.add(method, path, { route, surface });
          this.#table.push({ method, path });
        }
  }

  /** The routes that a path matches, such as `/threads/search` and `/threads/:thread_id`, have the same rules of access. */
  find(method: string, path: string): BuiltInRoute | undefined {
    const [matched] = this.#router.match(method === 'HEAD' ? 'GET' : method, path);
    return matched[0]?.[0];
  }

  /** For the operator: each route of the app that hides a built-in one, or is hidden by one. */
  conflicts(app: UserApp): string[] {
    const hidden = this.#table.flatMap(({ method, path }) => {
      const route = routeFor(app, method, path.replaceAll(/:([^/]+)/g, 'any-$1'));
      if (route === undefined) return [];
      return [
        probePaths.has(path)
          ? `The route ${route.method} ${route.path} of http.app is never called: ${path} is always that of the server`
          : `The route ${route.method} ${route.path} of http.app replaces the built-in route ${method} ${path}`,
      ];
    });
    const literal = app.routes.filter((route) => isRoute(route) && !/[:*]/.test(route.path));
    const shared = literal.flatMap(({ method, path }) => {
      const builtIn = this.find(method, path)?.route;
      return builtIn === undefined || builtIn.path === path
        ? []
        : [
            `The route ${method} ${path} of http.app replaces the built-in route ${method} ${builtIn.path} at this path`,
          ];
    });
    return [...new Set([...hidden, ...shared])];
  }
}
