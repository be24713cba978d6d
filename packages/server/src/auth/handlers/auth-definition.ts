// Loads the project's auth object. Ours and the stock one are recognized by their properties, not by their class.
import { pathToFileURL } from 'node:url';
import { authEvents } from '@svc/contract';
import type { AuthSource } from '../../config/project/auth.ts';
import type { LoadedModules } from '../../config/project/loaded-modules.ts';
import { ConfigError } from '../../config/project/mistake.ts';

export interface AuthDefinition {
  authenticate: (request: Request) => unknown;
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

/** Throws a ConfigError with the reason: the server does not start without its auth handlers. */
export const loadAuth = async (source: AuthSource, modules?: LoadedModules): Promise<AuthDefinition> => {
  const fail = (problem: string, remedy: string, cause?: unknown): never => {
    const detail = cause instanceof Error ? `: ${cause.message}` : '';
    throw new ConfigError([{ where: source.where, problem: problem + detail, remedy }]);
  };
  const { file, export: name } = source;
  let module: Record<string, unknown>;
  try {
    // Imported here, because most servers have no auth module.
    const { tsImport } = await import('tsx/esm/api');
    // Every call loads the modules in a new namespace, so that `svc dev` gets the changed files.
    module = (await tsImport(pathToFileURL(file).href, {
      parentURL: import.meta.url,
      tsconfig: source.tsconfig ?? false,
      ...(modules ? { onImport: modules.add } : {}),
    })) as Record<string, unknown>;
  } catch (cause) {
    modules?.afterImport(cause);
    return fail(`${file} cannot be loaded`, 'Fix the file; the server does not start without it.', cause);
  }
  modules?.afterImport();
  const nested = module['default'] as Record<string, unknown> | undefined;
  const exported = await (module[name] ?? nested?.[name]);
  if (exported === undefined) {
    const names = Object.keys(module).join(', ') || 'nothing';
    return fail(`${file} does not export ${name}; it exports ${names}`, 'Name an export after the colon.');
  }
  const cache = cacheOf(exported);
  if (cache === undefined)
    return fail(
      `${name} in ${file} is not an Auth object`,
      "Write: export const auth = new Auth().authenticate(…), with Auth from '@svc/sdk/auth'.",
    );
  const { authenticate, callbacks = {} } = cache;
  if (typeof authenticate !== 'function')
    return fail(`${name} in ${file} has no authenticate handler`, 'Call .authenticate(…) on it.');
  const wrong = Object.entries(callbacks).find(
    ([key, handler]) => typeof handler !== 'function' || !isEvent(key),
  );
  if (wrong)
    return fail(
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
