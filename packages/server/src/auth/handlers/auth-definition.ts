// Loads the project's auth object. Ours and the stock one are recognized by their properties, not by their class.
import { authEvents } from '@svc/contract';
import type { LoadedModules } from '../../config/project/loaded-modules.ts';
import { exportError, importExport, type ProjectModule } from '../../config/project/project-export.ts';

export interface AuthDefinition {
  /** `host`: what a program that contains this server has passed with the request. */
  authenticate: (request: Request, host?: unknown) => unknown;
  /** True when `authenticate` depends on more than the headers of the request. */
  isUncached?: boolean;
  /** By event, resource or action: `threads:create`, `threads`, `*:create`, `*`. */
  handlers: ReadonlyMap<string, Handler>;
}

/** Stock handlers take one argument; the payload is also passed as a second one. */
export type Handler = (context: HandlerContext, value: unknown) => unknown;

export interface HandlerContext {
  event: string;
  resource: string;
  action: string;
  value: unknown;
  user: unknown;
  permissions: readonly string[];
}

/** `authenticates`: the object needs an authenticate handler. Throws a ConfigError with the reason: the server does not start without its auth handlers. */
export const loadAuth = async (
  source: ProjectModule,
  { modules, authenticates = true }: { modules?: LoadedModules | undefined; authenticates?: boolean } = {},
): Promise<AuthDefinition> => {
  const { file, export: name } = source;
  const cache = cacheOf(await importExport(source, modules));
  if (cache === undefined)
    throw exportError(
      source,
      `${name} in ${file} is not an Auth object`,
      "Write: export const auth = new Auth().authenticate(…), with Auth from '@svc/sdk/auth'.",
    );
  const { authenticate, callbacks = {} } = cache;
  if (authenticates && typeof authenticate !== 'function')
    throw exportError(
      source,
      `${name} in ${file} has no authenticate handler`,
      'Call .authenticate(…) on it.',
    );
  const wrong = Object.entries(callbacks).find(
    ([key, handler]) => typeof handler !== 'function' || !isEvent(key),
  );
  if (wrong)
    throw exportError(
      source,
      `${name} in ${file}: .on(${JSON.stringify(wrong[0])}) does not register a handler for a known event`,
      events,
    );
  return {
    authenticate: authenticate as AuthDefinition['authenticate'],
    handlers: new Map(Object.entries(callbacks) as [string, Handler][]),
  };
};

const cacheOf = (value: unknown): { authenticate?: unknown; callbacks?: object } | undefined => {
  if (typeof value !== 'object' || value === null || !('~handlerCache' in value)) return undefined;
  const cache = value['~handlerCache'];
  return typeof cache === 'object' && cache !== null ? cache : undefined;
};

const events =
  'Register handlers for "<resource>:<action>", "<resource>", "*:<action>" or "*", with existing resources and actions.';
/** Other names are rejected, because such a handler would never be called. */
const keys = new Set(
  Object.keys(authEvents).flatMap((event) => {
    const [resource = '', action = ''] = event.split(':');
    return [event, resource, `*:${action}`, '*'];
  }),
);
const isEvent = (key: string): boolean => keys.has(key);

/** Keys of handlers that would never be called. */
export const unknownHandlers = (handlers: readonly string[]): string[] =>
  handlers.filter((key) => !isEvent(key));
