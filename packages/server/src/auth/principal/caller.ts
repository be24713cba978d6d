// Who makes a request.
import type { RoutePermission, Permission } from '@svc/contract';

/** What an auth handler said of a user. Extra fields are its own: tokens, roles, organisations. */
export interface User {
  readonly identity: string;
  readonly is_authenticated: boolean;
  readonly display_name: string;
  readonly permissions: readonly string[];
  readonly [field: string]: unknown;
}

/** What an API key of the platform may do, in the workspace that the request is about. */
export interface Grant {
  readonly key_id: string;
  readonly tenant_id: string;
  /** All that the key reaches. */
  readonly workspaces: readonly string[];
  readonly role: string;
  readonly permissions: readonly Permission[];
}

export interface Caller {
  /** Undefined where users are not told apart: without custom authentication. */
  readonly user: User | undefined;
  /** Whom limits count: an identity, an API key's fingerprint; undefined for anybody on this machine. */
  readonly countedAs: string | undefined;
  /** Of the platform: with its keys only. */
  readonly grant?: Grant;
}

export const anybody: Caller = { user: undefined, countedAs: undefined };

/** What of a request says who makes it. */
export interface Credentials {
  /** The first value; the name in lower case. */
  header(name: string): string | undefined;
  /** The other end of the connection: the client's address, or a proxy's. */
  readonly remoteAddress: string | undefined;
  /** The request without its body, as the Fetch API has it. */
  request(): Request;
}

/** Throws a Problem for whom it does not know. */
export type Authenticate = (credentials: Credentials, access: RoutePermission) => Promise<Caller> | Caller;
