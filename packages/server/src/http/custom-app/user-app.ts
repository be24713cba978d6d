// The Hono app of the project. It may come from another copy of hono, so only these members are used, and no `instanceof`.
import { TrieRouter } from 'hono/router/trie-router';
import type { CustomAppConfig } from '../../config/project/custom-app.ts';
import type { LoadedModules } from '../../config/project/loaded-modules.ts';
import { exportError, importExport } from '../../config/project/project-export.ts';

export interface UserApp {
  fetch(request: Request, env: object): Response | Promise<Response>;
  notFound(handler: (context: UserContext) => Response | Promise<Response>): unknown;
  onError(handler: (error: Error, context: UserContext) => Response): unknown;
  readonly errorHandler: unknown;
  use(middleware: (context: UserContext, next: () => Promise<void>) => Promise<void>): unknown;
  route(path: string, app: UserApp): unknown;
  getPath: (request: Request, options: { env: object }) => string;
  readonly router: { match(method: string, path: string): unknown };
  readonly routes: readonly UserRoute[];
}

/** An entry of a Hono app: a handler, or a middleware. */
export interface UserRoute {
  readonly method: string;
  readonly path: string;
  readonly handler: unknown;
}

export type Body = ConstructorParameters<typeof Response>[0];

/** The part of a Hono context that the fallback uses. */
export interface UserContext {
  readonly req: {
    readonly raw: Request;
    /** What middleware has read of the body: a value or a promise for each method that it called, such as `json`. */
    readonly bodyCache: Readonly<Record<string, unknown>>;
  };
  /** Undefined in a request that the app has sent to itself. */
  readonly env: object | undefined;
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  newResponse(body: Body, init: Response): Response;
}

/** Throws a ConfigError when the app cannot be loaded: its middleware may protect routes, so the server must not start without it. */
export const loadUserApp = async (
  { source }: Pick<CustomAppConfig, 'source'>,
  modules?: LoadedModules,
): Promise<UserApp> => {
  const exported = await importExport(source, modules);
  if (isUserApp(exported)) return exported;
  throw exportError(
    source,
    `${source.export} in ${source.file} is not a Hono app`,
    "Write: export const app = new Hono().get(…), with Hono from 'hono', version 4.",
  );
};

export const isUserApp = (value: unknown): value is UserApp => {
  if (typeof value !== 'object' || value === null) return false;
  const { fetch, notFound, onError, use, route, getPath, router, routes } = value as Partial<
    Record<keyof UserApp, unknown>
  >;
  return (
    [fetch, notFound, onError, use, route, getPath].every((member) => typeof member === 'function') &&
    typeof (router as UserApp['router'] | undefined)?.match === 'function' &&
    Array.isArray(routes)
  );
};

/**
 * Finds the route that handles a request with the app's own router. Returns undefined when no route matches, only middleware or nothing.
 */
export const routeFor = (app: UserApp, method: string, path: string): UserRoute | undefined => {
  // The result is a list of handlers with their routes; RegExpRouter adds a list of parameters.
  const [matched] = app.router.match(method === 'HEAD' ? 'GET' : method, path) as [[[unknown, UserRoute]][]];
  return matched.map(([[, route]]) => route).findLast(isRoute);
};

/** False for middleware: a handler for all methods with a second parameter, `next`. `showRoutes()` of Hono has the same rule. */
export const isRoute = ({ method, handler }: UserRoute): boolean =>
  method !== 'ALL' || innermost(handler).length < 2;

/** The handler that the app's author wrote. Hono wraps it if the app has `onError()` and is mounted in another app. */
const innermost = (handler: unknown): ((...given: unknown[]) => unknown) => {
  const wrapped = (handler as Record<string, unknown>)['__COMPOSED_HANDLER'];
  return wrapped === undefined ? (handler as (...given: unknown[]) => unknown) : innermost(wrapped);
};

/**
 * A new app of the same copy of hono, in which the routes of the given app are mounted, as the stock server mounts them. Only that copy can create
 * contexts with variables.
 */
export const mountUserApp = (app: UserApp, before: Parameters<UserApp['use']>[0]): UserApp => {
  const outer = emptyApp(app);
  outer.getPath = app.getPath;
  outer.use(before);
  outer.route('/', app);
  return outer;
};

/** Whether the app has no error handler of its own. Each copy of hono has its own default handler. */
export const hasDefaultErrors = (app: UserApp): boolean => emptyApp(app).errorHandler === app.errorHandler;

/** With a router, because the result of `basePath()` is an instance of a class without one. */
const emptyApp = (app: UserApp): UserApp => {
  const { constructor } = app as object as { constructor: new (options: object) => UserApp };
  return new constructor({ router: new TrieRouter() });
};
