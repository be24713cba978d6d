// What a project writes its authentication with: `svc.json` names the object, the server asks it. Nothing here runs in a
// client, and the server tells an auth object by what it holds, so that copies of this package do not matter.
import type { AuthEvent, AuthResource, AuthValue } from '@svc/contract';

type Awaitable<T> = T | Promise<T>;

/** Who makes a request, as `authenticate` tells it; extra fields reach handlers and graphs as they are. */
export interface AuthUser {
  /** 1 to 256 characters. */
  identity: string;
  permissions?: string[];
  display_name?: string;
  [field: string]: unknown;
}

type Scalar = string | number | boolean;
type Condition = Scalar | { $eq?: Scalar; $contains?: Scalar | Scalar[] };

/** Which resources may be seen or touched, by their metadata. `{}` alone is no restriction. */
export type AuthFilter = { [key: string]: Condition } | { $and: AuthFilter[] } | { $or: AuthFilter[] };

/** True allows without a filter, false refuses; nothing refuses too, and says so. */
export type AuthAnswer = Awaitable<AuthFilter | boolean | null | undefined | void>;

export interface AuthContext<E extends AuthEvent = AuthEvent, User extends AuthUser = AuthUser> {
  event: E;
  resource: string;
  action: string;
  /** The payload; what a handler changes in it counts. */
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

/** The context, with the payload in it and once more beside it. */
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
  /** Where the server looks. */
  readonly '~handlerCache': {
    authenticate?: (request: Request) => unknown;
    callbacks?: Record<string, (...args: never[]) => unknown>;
  } = {};

  /** Tells who makes a request: an identity or a user. Throw an HTTPException for nobody. The request comes without its body. */
  authenticate<T extends string | AuthUser>(callback: (request: Request) => Awaitable<T>): Auth<UserOf<T>> {
    this['~handlerCache'].authenticate = callback;
    return this as unknown as Auth<UserOf<T>>;
  }

  /** The handler of an event, a resource, an action or everything; the most special one is asked, and no other. */
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

/** Answers the request with this status, message and headers, such as `www-authenticate`. */
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

/** The developer who opened the Studio with the server's SVC_STUDIO_KEY. */
export class StudioUser implements AuthUser {
  readonly kind = 'StudioUser';
  readonly identity: string;
  readonly permissions: string[];
  [field: string]: unknown;

  /** The user that handlers get came through JSON: it is told by its kind. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && isStudioUser(value);
  }

  constructor(identity = 'svc-studio-user', permissions: string[] = []) {
    this.identity = identity;
    this.permissions = permissions;
  }
}

/** Whether the server made this user of a proven Studio key: no answer of `authenticate` can claim it. */
export const isStudioUser = (user: object): boolean => 'kind' in user && user.kind === 'StudioUser';
