// The caller of a request.
import type { Permission } from '@svc/contract';

/** The user that an auth handler returned. Extra fields are the project's: tokens, roles, organisations. */
export interface User {
  readonly identity: string;
  readonly is_authenticated: boolean;
  readonly display_name: string;
  readonly permissions: readonly string[];
  readonly [field: string]: unknown;
}

/** The permissions of a platform API key in the workspace of the request. */
export interface KeyGrant {
  readonly key_id: string;
  /** Undefined when the request names no workspace, and the key has several. */
  readonly workspace_id: string | undefined;
  /** The same; throws when it is undefined. Routes such as the list of workspaces do not read it. */
  readonly tenant_id: string;
  /** All workspaces that the key has access to. */
  readonly workspaces: readonly string[];
  readonly role: string;
  readonly permissions: readonly Permission[];
}

export interface Caller {
  /** Undefined without custom authentication. */
  readonly user: User | undefined;
  /** Key of the rate limits: an identity, or an API key's fingerprint; undefined for clients on this machine. */
  readonly countedAs: string | undefined;
  /** Set for platform routes. */
  readonly grant?: KeyGrant;
  /** Calls `end` when the session of the caller ends, until the returned function is called. Absent without a session. */
  readonly watch?: (end: () => void) => () => void;
}

/** The caller of a request with a user. */
export const callerOf = (user: User): Caller => ({ user, countedAs: user.identity });

export const anybody: Caller = { user: undefined, countedAs: undefined };

/** The parts of a request that authentication uses. */
export interface Credentials {
  /** The first value; the name in lower case. */
  header(name: string): string | undefined;
  /** Address of the peer: the client or a proxy. */
  readonly remoteAddress: string | undefined;
  /** Of a request for a WebSocket. */
  readonly ticket?: string | undefined;
  /** True for a request without a connection: its client has no address. */
  readonly isInProcess?: boolean;
  /** What a program that contains this server has passed with the request. */
  readonly host?: unknown;
  /** The request without its body, as a Fetch API Request. */
  request(): Request;
}

/** Throws a Problem when authentication fails. */
export type Authenticate = (credentials: Credentials) => Promise<Caller> | Caller;

/** The permissions and workspaces of the caller's key. Platform routes are only called with a key. */
export const grantOf = ({ grant }: Caller): KeyGrant => {
  if (grant === undefined) throw new Error('A platform route was called without an API key');
  return grant;
};

/** The workspace of a call of a platform route. */
export const tenantOf = ({ caller }: { caller: Caller }): string => grantOf(caller).tenant_id;
