// The auth object of a project: `svc.json` names the module that exports it, and the server calls its handlers. Clients do not use
// this file. The server recognizes an auth object by its `~handlerCache`, so several copies of this package work together.
import type { AuthEvent, AuthResource, AuthValue } from '@svc/contract';

type Awaitable<T> = T | Promise<T>;

/** The user of a request, as returned by `authenticate`. Handlers and graphs receive extra fields unchanged. */
export interface AuthUser {
  /** 1 to 256 characters. */
  identity: string;
  permissions?: string[];
  display_name?: string;
  [field: string]: unknown;
}

type Scalar = string | number | boolean;
type Condition = Scalar | { $eq?: Scalar; $contains?: Scalar | Scalar[] };

/** A condition on the metadata of resources: only matching resources are visible. `{}` matches all resources. */
export type AuthFilter = { [key: string]: Condition } | { $and: AuthFilter[] } | { $or: AuthFilter[] };

/** True allows without a filter, false refuses. Undefined and null refuse too, and the server logs that the handler returned nothing. */
export type AuthAnswer = Awaitable<AuthFilter | boolean | null | undefined | void>;

export interface AuthContext<E extends AuthEvent = AuthEvent, User extends AuthUser = AuthUser> {
  event: E;
  resource: string;
  action: string;
  /** The payload of the request. The server uses the handler's changes to it. */
  value: AuthValue<E>;
  user: User & { permissions: string[]; display_name: string; is_authenticated: boolean };
  permissions: string[];
}

type EventsOf<K> = K extends '*'
  ? AuthEvent
  : K extends AuthEvent
    ? K
    : K extends AuthResource
      ? Extract<AuthEvent, `${K}:${string}`>
      : K extends `*:${infer Action}`
        ? Extract<AuthEvent, `${string}:${Action}`>
        : never;

type ActionOf<E> = E extends `${string}:${infer Action}` ? Action : never;
export type AuthKey = AuthEvent | AuthResource | `*:${ActionOf<AuthEvent>}` | '*';

/** The second argument is the context's `value`. */
export type AuthHandler<K extends AuthKey = AuthKey, User extends AuthUser = AuthUser> = (
  context: { [E in EventsOf<K>]: AuthContext<E, User> }[EventsOf<K>],
  value: AuthValue<EventsOf<K>>,
) => AuthAnswer;

type UserOf<T> = T extends string ? AuthUser : T extends AuthUser ? T : AuthUser;

/**
 * @example
 * export const auth = new Auth()
 *   .authenticate((request) => {
 *     const user = userOf(request.headers.get('authorization'));
 *     if (!user) throw new HTTPException(401, { message: 'Log in first' });
 *     return { identity: user.id, org: user.org };
 *   })
 *   .on('*', ({ value, user }) => {
 *     if ('metadata' in value) value.metadata = { ...value.metadata, owner: user.identity };
 *     return { owner: user.identity };
 *   });
 */
export class Auth<User extends AuthUser = AuthUser> {
  /** The server reads the handlers here. */
  readonly '~handlerCache': {
    authenticate?: (request: Request) => unknown;
    callbacks?: Record<string, (...args: never[]) => unknown>;
  } = {};

  /** Returns the identity or the user of a request, or throws an HTTPException. The request has no body. */
  authenticate<T extends string | AuthUser>(callback: (request: Request) => Awaitable<T>): Auth<UserOf<T>> {
    this['~handlerCache'].authenticate = callback;
    return this as unknown as Auth<UserOf<T>>;
  }

  /** Sets the handler of an event, a resource, an action or everything. The server calls only the most specific handler. */
  on<K extends AuthKey>(key: K | K[], handler: AuthHandler<K, User>): this {
    const callbacks = (this['~handlerCache'].callbacks ??= {});
    for (const one of [key].flat()) callbacks[one] = handler;
    return this;
  }
}

const titles: Record<number, string> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  429: 'Too many requests',
  500: 'Internal server error',
  503: 'Service unavailable',
};

/** The server responds with this status, message and headers, such as `www-authenticate`. */
export class HTTPException extends Error {
  override readonly name = 'HTTPException';
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(
    status = 401,
    options: { message?: string; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(options.message ?? titles[status] ?? 'Refused', { cause: options.cause });
    this.status = status;
    this.headers = options.headers ?? {};
  }
}

/** The developer who authenticated in the Studio with SVC_STUDIO_KEY. */
export class StudioUser implements AuthUser {
  readonly kind = 'StudioUser';
  readonly identity: string;
  readonly permissions: string[];
  [field: string]: unknown;

  /** Compares `kind`: the user that handlers receive was parsed from JSON and has no class. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && isStudioUser(value);
  }

  constructor(identity = 'svc-studio-user', permissions: string[] = []) {
    this.identity = identity;
    this.permissions = permissions;
  }
}

/** True for the user that the server creates after checking the Studio key. The result of `authenticate` cannot have this kind. */
export const isStudioUser = (user: object): boolean => 'kind' in user && user.kind === 'StudioUser';
