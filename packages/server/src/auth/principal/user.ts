// Converts the result of `authenticate` into the user that handlers and graphs get.
import { Problem } from '@svc/contract/problem';
import type { User } from './caller.ts';
import { AuthHandlerError } from '../handlers/handler-call.ts';
import { isRecord } from '../../json/is-record.ts';

export const studioIdentity = 'svc-studio-user';

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
export const toUser = (answer: unknown, { compat = false }: { compat?: boolean } = {}): User => {
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
export const studioUser: User = Object.freeze({
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
