// Converts the result of `authenticate` into the user that handlers and graphs get.
import { Problem } from '@svc/contract/problem';
import type { User } from './caller.ts';
import { AuthHandlerError } from '../handlers/handler-call.ts';

export const studioIdentity = 'svc-studio-user';

/** Identities that handlers treat specially, and `*`, which matches any label of a namespace. */
const reserved = new Set([studioIdentity, 'langgraph-studio-user', 'anonymous', 'system', '*']);

const identityMax = 256;
const bytesMax = 65_536;
const unstorable = /\0|\p{Surrogate}/u;

/** Throws AuthHandlerError for an invalid result, `unauthenticated` for a reserved identity. */
export const toUser = (answer: unknown): User => {
  const given = typeof answer === 'string' ? { identity: answer } : answer;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new AuthHandlerError('authenticate must return a string, or an object with an identity');
  const fields = toJson(given);
  const { identity, permissions = [], is_authenticated = true, display_name, kind, ...rest } = fields;
  if (typeof identity !== 'string' || identity.trim() === '' || identity.length > identityMax)
    throw new AuthHandlerError(
      `authenticate must return an identity: a string of 1 to ${identityMax} characters`,
    );
  if (unstorable.test(identity))
    throw new AuthHandlerError('authenticate returned an identity that cannot be stored');
  if (!isStringList(permissions))
    throw new AuthHandlerError('authenticate must return permissions as a list of strings');
  if (is_authenticated === false) throw new Problem('unauthenticated', 'The request is not authenticated');
  if (reserved.has(identity.toLowerCase()))
    throw new Problem('unauthenticated', 'This identity is reserved for the server');
  return Object.freeze({
    ...rest,
    // A user-controlled claim must not create a Studio user.
    ...(kind === undefined || kind === 'StudioUser' ? {} : { kind }),
    identity,
    is_authenticated: true,
    display_name: typeof display_name === 'string' ? display_name : identity,
    permissions: Object.freeze(permissions),
  });
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
