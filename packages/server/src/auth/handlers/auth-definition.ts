// The project's auth object: ours or the stock one, told by what it holds and not by its class.
import { pathToFileURL } from 'node:url';
import { authEvents } from '@svc/contract';
import { tsImport } from 'tsx/esm/api';
import type { AuthSource } from '../../config/project/auth.ts';
import type { LoadedModules } from '../../config/project/loaded-modules.ts';
import { ConfigError } from '../../config/project/mistake.ts';

export interface AuthDefinition {
  authenticate: (request: Request) => unknown;
  /** By event, resource or action: `threads:create`, `threads`, `*:create`, `*`. */
  handlers: ReadonlyMap<string, Handler>;
}

/** The stock handlers take one argument; the payload comes as a second one for those who like it apart. */
export type Handler = (context: HandlerContext, value: unknown) => unknown;

export interface HandlerContext {
  event: string;
  resource: string;
  action: string;
  value: unknown;
  user: unknown;
  permissions: readonly string[];
}

/** Throws a ConfigError that says what is wrong with the file: nobody is served by a server that cannot ask it. */
export const loadAuth = async (source: AuthSource, modules?: LoadedModules): Promise<AuthDefinition> => {
  const fail = (problem: string, remedy: string, cause?: unknown): never => {
    const detail = cause instanceof Error ? `: ${cause.message}` : '';
    throw new ConfigError([{ where: source.where, problem: problem + detail, remedy }]);
  };
  const { file, export: name } = source;
  let module: Record<string, unknown>;
  try {
    // Every call loads the modules anew, so that `svc dev` gets them as they are after a change.
    module = (await tsImport(pathToFileURL(file).href, {
      parentURL: import.meta.url,
      ...(modules ? { onImport: modules.add } : {}),
    })) as Record<string, unknown>;
  } catch (cause) {
    modules?.afterImport(cause);
    return fail(`${file} cannot be loaded`, 'Mend the file; the server does not start without it.', cause);
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
      `${name} in ${file} is no Auth object`,
      "Write: export const auth = new Auth().authenticate(…), with Auth from '@svc/sdk/auth'.",
    );
  const { authenticate, callbacks = {} } = cache;
  if (typeof authenticate !== 'function')
    return fail(`${name} in ${file} has no authenticate handler`, 'Call .authenticate(…) on it.');
  const wrong = Object.entries(callbacks).find(
    ([key, handler]) => typeof handler !== 'function' || !isEvent(key),
  );
  if (wrong)
    return fail(`${name} in ${file}: .on(${JSON.stringify(wrong[0])}) is no handler of an event`, events);
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
  'Handlers are for "<resource>:<action>", "<resource>", "*:<action>" or "*", of resources and actions that there are.';
/** A handler that would never be asked guards nothing. */
const keys = new Set(
  Object.keys(authEvents).flatMap((event) => {
    const [resource = '', action = ''] = event.split(':');
    return [event, resource, `*:${action}`, '*'];
  }),
);
const isEvent = (key: string): boolean => keys.has(key);
