// Asks the project's `authenticate` who makes a request; and lets the Studio in, for who proves its key.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { LRUCache } from 'lru-cache';
import type { AuthCacheConfig } from '../../config/project/auth.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { Authenticate, Caller, Credentials, User } from '../principal/caller.ts';
import { callHandler } from './handler-call.ts';
import { studioUser, toUser } from '../principal/user.ts';

export interface CustomAuthOptions {
  authenticate: (request: Request) => unknown;
  timeoutMs: number;
  cache: AuthCacheConfig | undefined;
  /** Undefined: there is no Studio user. */
  studioKey: Secret | undefined;
}

/** What the Studio sends with its requests. It says nothing about who sends it: the key does. */
const schemeHeader = 'x-auth-scheme';
const studioSchemes = new Set(['svc-studio', 'langsmith']);

const hash = (text: string): Buffer => createHash('sha256').update(text).digest();

const callerOf = (user: User): Caller => ({ user, countedAs: user.identity });

const refusesStudio = (): Problem => new Problem('unauthenticated', 'The Studio key is missing or wrong.');

export const customAuthenticator = (options: CustomAuthOptions): Authenticate => {
  const { timeoutMs, cache, studioKey } = options;
  const expected = studioKey && hash(studioKey.reveal());
  const studio = (credentials: Credentials): Caller => {
    const key = credentials.header('x-api-key');
    if (expected === undefined || key === undefined || !timingSafeEqual(hash(key), expected))
      throw refusesStudio();
    return callerOf(studioUser);
  };
  const ask = (credentials: Credentials): Promise<Caller> =>
    callHandler(
      'authenticate',
      timeoutMs,
      () => options.authenticate(credentials.request()),
      (answer) => callerOf(toUser(answer)),
    );
  const cached = cache ? remembering(ask, cache) : ask;
  return (credentials, access) => {
    const scheme = credentials.header(schemeHeader);
    return scheme !== undefined && studioSchemes.has(scheme.toLowerCase())
      ? studio(credentials)
      : cached(credentials, access);
  };
};

/**
 * Requests that agree in these headers are one caller's. Failures are not kept. Keys are hashes: a cache of tokens would be
 * worth stealing.
 */
const remembering = (
  ask: (credentials: Credentials) => Promise<Caller>,
  { headers, ttlMs, sizeMax }: AuthCacheConfig,
): Authenticate => {
  const callers = new LRUCache<string, Promise<Caller>>({ max: sizeMax, ttl: ttlMs });
  return (credentials) => {
    const values = headers.map((name) => credentials.header(name) ?? null);
    // Who says nothing that the cache goes by is no known caller.
    if (values.every((value) => value === null)) return ask(credentials);
    const key = hash(JSON.stringify(values)).toString('base64');
    const known = callers.get(key);
    if (known) return known;
    const asked = ask(credentials);
    callers.set(key, asked);
    asked.catch(() => {
      if (callers.peek(key) === asked) callers.delete(key);
    });
    return asked;
  };
};
