// Custom authentication and authorization of a project.
import { timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import { LRUCache } from 'lru-cache';
import type { AuthCacheConfig, AuthConfig } from '../../config/project/auth.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { AuthHandlers } from '../authorization/authorizer.ts';
import type { AuthDefinition } from './auth-definition.ts';
import { type Authenticate, type Caller, callerOf, type Credentials } from '../principal/caller.ts';
import type { Secret } from '../../config/settings/secret.ts';
import { callHandler } from './handler-call.ts';
import { studioUser, toUser } from '../principal/user.ts';
import { sha256 } from '../sha256.ts';

export interface CustomAuth {
  authenticate: Authenticate;
  handlers: AuthHandlers;
}

export const customAuth = (
  { authenticate, handlers, isUncached = false }: AuthDefinition,
  {
    config,
    settings,
    compat,
    logger,
  }: {
    config: Pick<AuthConfig, 'cache' | 'isStudioDisabled'> | undefined;
    settings: Settings['auth'];
    compat: boolean;
    logger: Logger;
  },
): CustomAuth => {
  const { timeoutMs, studioKey } = settings;
  const authHandlers = new AuthHandlers({ handlers, isLenient: compat, timeoutMs });
  const uncovered = authHandlers.uncovered();
  if (!compat && handlers.size > 0 && uncovered.length > 0)
    logger.warn(
      `No auth handler covers ${uncovered.join(', ')}: these operations are refused for every user`,
    );
  return {
    handlers: authHandlers,
    authenticate: customAuthenticator({
      authenticate,
      timeoutMs,
      compat,
      cache: isUncached ? undefined : config?.cache,
      studioKey: config?.isStudioDisabled ? undefined : studioKey,
    }),
  };
};

// Authenticates requests with the project's `authenticate` handler; requests of the Studio with the Studio key.

interface CustomAuthOptions {
  authenticate: (request: Request, host?: unknown) => unknown;
  timeoutMs: number;
  /** Accepts every user that a stock project may return. */
  compat: boolean;
  cache: AuthCacheConfig | undefined;
  /** Without it there is no Studio user. */
  studioKey: Secret | undefined;
}

/** A header that the Studio sends. It is not a proof of identity; the key is. */
const schemeHeader = 'x-auth-scheme';
const studioSchemes = new Set(['svc-studio', 'langsmith']);

const wrongStudioKey = (): Problem => new Problem('unauthenticated', 'The Studio key is missing or wrong.');

const customAuthenticator = (options: CustomAuthOptions): Authenticate => {
  const { timeoutMs, compat, cache, studioKey } = options;
  const expected = studioKey && sha256(studioKey.reveal());
  const studio = (credentials: Credentials): Caller => {
    const key = credentials.header('x-api-key');
    if (expected === undefined || key === undefined || !timingSafeEqual(sha256(key), expected))
      throw wrongStudioKey();
    return callerOf(studioUser);
  };
  const ask = (credentials: Credentials): Promise<Caller> =>
    callHandler(
      'authenticate',
      timeoutMs,
      () =>
        credentials.host === undefined
          ? options.authenticate(credentials.request())
          : options.authenticate(credentials.request(), credentials.host),
      (answer) => callerOf(toUser(answer, { compat })),
    );
  const cached = cache ? withCache(ask, cache) : ask;
  return (credentials) => {
    const scheme = credentials.header(schemeHeader);
    return scheme !== undefined && studioSchemes.has(scheme.toLowerCase())
      ? studio(credentials)
      : cached(credentials);
  };
};

/**
 * Caches callers by the values of these headers. Failures are not cached. The keys are hashes, because a cache of tokens would be worth
 * stealing.
 */
const withCache = (
  ask: (credentials: Credentials) => Promise<Caller>,
  { headers, ttlMs, sizeMax }: AuthCacheConfig,
): Authenticate => {
  const callers = new LRUCache<string, Promise<Caller>>({ max: sizeMax, ttl: ttlMs });
  return (credentials) => {
    const values = headers.map((name) => credentials.header(name) ?? null);
    // A request without any of the headers is not cached.
    if (values.every((value) => value === null)) return ask(credentials);
    const key = sha256(JSON.stringify(values)).toString('base64');
    const known = callers.get(key);
    if (known) return known;
    const requested = ask(credentials);
    callers.set(key, requested);
    requested.catch(() => {
      if (callers.peek(key) === requested) callers.delete(key);
    });
    return requested;
  };
};
