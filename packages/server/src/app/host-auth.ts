// Authentication by the program that contains this server.
import { Problem } from '@svc/contract/problem';
import type { AuthDefinition } from '../auth/handlers/auth-definition.ts';

/** What `authenticate` returns: an identity, or a user with fields of its own; nothing for a request that is not authenticated. */
export type HostUser =
  | string
  | { identity: string; permissions?: readonly string[]; [field: string]: unknown };

/** `host`: what the program has passed with the request; Node's request where the handler got one. */
export type HostAuthenticate = (
  request: Request,
  host: unknown,
) => HostUser | null | undefined | Promise<HostUser | null | undefined>;

/** The handlers of the project with the `authenticate` of the program. */
export const withHostAuth = (
  own: AuthDefinition | undefined,
  authenticate: HostAuthenticate | undefined,
): AuthDefinition | undefined => {
  if (authenticate === undefined) return own;
  return {
    handlers: own?.handlers ?? new Map(),
    isUncached: true,
    authenticate: async (request, host) => {
      const user = await authenticate(request, host);
      if (user === null || user === undefined)
        throw new Problem('unauthenticated', 'The request is not authenticated.');
      return user;
    },
  };
};
