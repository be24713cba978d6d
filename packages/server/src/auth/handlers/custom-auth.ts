// Custom authentication and authorization of a project.
import { timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { Problem } from '@svc/contract/problem';
import { LRUCache } from 'lru-cache';
import type { AuthCacheConfig, AuthConfig } from '../../config/project/auth.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { AuthHandlers } from '../authorization/authorizer.ts';
import type { AuthDefinition } from './auth-definition.ts';
import {
  type Authenticate,
  type Caller,
  callerOf,
  type Credentials,
  type User,
} from '../principal/caller.ts';
import type { Secret } from '../../config/settings/secret.ts';
import { AuthHandlerError, callHandler } from './handler-call.ts';
import { sha256 } from '../sha256.ts';
import { isRecord } from '../../json/is-record.ts';

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

// Converts the result of `authenticate` into the user that handlers and graphs get.

const studioIdentity = 'svc-studio-user';

/** The identities of the Studio user, and `*`, which matches any label of a namespace. */
const reserved = new Set([studioIdentity, 'langgraph-studio-user', '*']);

/** Identities that handlers treat specially. */
const special = new Set(['anonymous', 'system']);

const identityMax = 256;
/** In characters, of which each may need three bytes in an index of PostgreSQL: its rows have at most 2,700 bytes. */
const stockIdentityMax = 800;
const bytesMax = 65_536;
const unstorable = /\0|\p{Surrogate}/u;

/**
 * Throws AuthHandlerError for an invalid result, `unauthenticated` for a reserved identity. With `compat`, accepts the users of a stock
 * project: an empty identity, `anonymous` and `system`, `is_authenticated: false`, and permissions that are null or an object.
 */
const toUser = (answer: unknown, { compat = false }: { compat?: boolean } = {}): User => {
  const user = typeof answer === 'string' ? { identity: answer } : answer;
  if (!isRecord(user))
    throw new AuthHandlerError('authenticate must return a string, or an object with an identity');
  const fields = toJson(user);
  const { identity, permissions: given, is_authenticated = true, display_name, kind, ...rest } = fields;
  const lengths = compat ? { min: 0, max: stockIdentityMax } : { min: 1, max: identityMax };
  if (typeof identity !== 'string' || identity.length > lengths.max || (!compat && identity.trim() === ''))
    throw new AuthHandlerError(
      `authenticate must return an identity: a string of ${lengths.min} to ${lengths.max} characters`,
    );
  if (unstorable.test(identity))
    throw new AuthHandlerError('authenticate returned an identity that cannot be stored');
  const permissions = permissionsOf(given ?? [], compat);
  if (!compat && is_authenticated === false)
    throw new Problem('unauthenticated', 'The request is not authenticated');
  const name = identity.toLowerCase();
  if (reserved.has(name) || (!compat && special.has(name)))
    throw new Problem('unauthenticated', 'This identity is reserved for the server');
  return Object.freeze({
    ...rest,
    // A user-controlled claim must not create a Studio user.
    ...(kind === undefined || kind === 'StudioUser' ? {} : { kind }),
    identity,
    is_authenticated: is_authenticated !== false,
    display_name: typeof display_name === 'string' ? display_name : identity,
    permissions,
  });
};

/** An object of a stock project is passed to handlers as it is. */
const permissionsOf = (given: unknown, compat: boolean): User['permissions'] => {
  if (isStringList(given)) return Object.freeze(given);
  if (compat && typeof given === 'object' && !Array.isArray(given)) return given as User['permissions'];
  throw new AuthHandlerError('authenticate must return permissions as a list of strings');
};

/** The developer who uses the Studio with the Studio key. */
const studioUser: User = Object.freeze({
  kind: 'StudioUser',
  identity: studioIdentity,
  is_authenticated: true,
  display_name: studioIdentity,
  permissions: Object.freeze([]),
});

/** Users are sent to executors and stored encrypted, both as JSON. */
const toJson = (given: object): Record<string, unknown> => {
  let text: string | undefined;
  try {
    text = JSON.stringify(given);
  } catch (cause) {
    throw new AuthHandlerError('authenticate returned a value that is not JSON', { cause });
  }
  if (text.length > bytesMax) throw new AuthHandlerError(`authenticate returned more than ${bytesMax} bytes`);
  const value = JSON.parse(text) as unknown;
  if (typeof value !== 'object' || value === null)
    throw new AuthHandlerError('authenticate returned a value that is not a JSON object');
  return value as Record<string, unknown>;
};

const isStringList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
