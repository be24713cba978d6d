// Authorization. Every operation is authorized before it uses storage, with its payload. The result is the payload with the changes of the
// auth handler, and the filter for the SQL statement.
import { type AuthEvent, authEvents, type AuthValue, type RoutePermission } from '@svc/contract';
import { invalid, Problem } from '@svc/contract/problem';
import type { Handler } from '../handlers/auth-definition.ts';
import type { Caller, KeyGrant, User } from '../principal/caller.ts';
import { AccessFilter, AccessFilterError } from './access-filter.ts';
import { AuthHandlerError, callHandler } from '../handlers/handler-call.ts';
import type { z } from 'zod';

export interface Granted<E extends AuthEvent> {
  value: AuthValue<E>;
  access: AccessFilter;
}

/** The access rule of a route that needs a permission or the consent of a handler. */
export type ProtectedAccess = Exclude<RoutePermission, 'public' | 'caller'>;

export interface Authorizer {
  readonly user: User | undefined;
  /**
   * Throws `forbidden` when it is not allowed, or the error that the auth handler throws. The value has no other fields than the event: they
   * would be missing in what is granted where there are handlers, and be there where there are none.
   */
  authorize<E extends AuthEvent, V extends AuthValue<E>>(
    event: E,
    value: V & Record<Exclude<keyof V, keyof AuthValue<E>>, never>,
  ): Promise<Granted<E>> | Granted<E>;
  /**
   * The filter of the assistants that a run or cron may use. A default assistant belongs to the deployment: a handler may refuse it, no
   * handler is needed to allow it, and no filter applies to it.
   */
  authorizeAssistant(assistant_id: string, isDefault: boolean): Promise<AccessFilter> | AccessFilter;
  /**
   * Called before the input of a route is read. Decides for routes that need a permission; for the others the handler calls `authorize`
   * with its payload. Throws `forbidden`.
   */
  authorizeRoute(access: ProtectedAccess): void;
  /** True when the permission, or one of the events, was authorized. A response without that is a bug. */
  hasAuthorized(access: ProtectedAccess): boolean;
}

/** The metadata key of a resource's owner. Only the server writes it. */
export const ownerKey = 'svc_auth_user_id';

type Metadata = Record<string, unknown>;

const metadataOf = (value: object): Metadata | undefined =>
  'metadata' in value ? (value.metadata as Metadata | undefined) : undefined;

const isWrite = (event: AuthEvent): boolean => /:(create|create_run|update)$/.test(event);

/** Rejects metadata that sets an owner. The caller's own identity is allowed, since clients send back what they have read. */
const assertNoForeignOwner = (event: AuthEvent, value: object, user: User | undefined): void => {
  const metadata = isWrite(event) ? metadataOf(value) : undefined;
  if (metadata === undefined || !Object.hasOwn(metadata, ownerKey)) return;
  if (user !== undefined && metadata[ownerKey] === user.identity) return;
  throw invalid(['body', 'metadata', ownerKey], `${ownerKey} is set by the server; remove it`);
};

/** Only a key of the platform API has permissions. */
const assertNoPermissionNeeded = (access: ProtectedAccess): void => {
  if ('permission' in access) throw new Error('A route of the platform API was called without a key');
};

/** Allows every event: for servers without custom authentication, which have no users. */
export const unrestrictedAuthorizer: Authorizer = {
  user: undefined,
  authorize(event, value) {
    assertNoForeignOwner(event, value, undefined);
    return { value, access: AccessFilter.everything };
  },
  authorizeAssistant: () => AccessFilter.everything,
  authorizeRoute: assertNoPermissionNeeded,
  hasAuthorized: (access) => !('permission' in access),
};

export interface AuthorizerOptions {
  handlers: ReadonlyMap<string, Handler>;
  /** Allows events without a handler, and handlers that return nothing, as the stock server does. */
  isLenient: boolean;
  timeoutMs: number;
}

/** The project's auth handlers. An event is handled by the handler for the event, else for its resource, else for its action, else for all. */
export class AuthHandlers {
  readonly #options: AuthorizerOptions;

  constructor(options: AuthorizerOptions) {
    this.#options = options;
  }

  authorizerFor({ user }: Caller): Authorizer {
    if (user === undefined) return unrestrictedAuthorizer;
    const requested = new Set<string>();
    return {
      user,
      authorize: (event, value) => {
        requested.add(event);
        return this.#authorize(user, event, value);
      },
      authorizeAssistant: async (assistant_id, isDefault) => {
        requested.add('assistants:read');
        if (isDefault && !this.#handlerOf('assistants:read')) return AccessFilter.everything;
        const { access } = await this.#authorize(user, 'assistants:read', {
          assistant_id,
          metadata: undefined,
        });
        return isDefault ? AccessFilter.everything : access;
      },
      authorizeRoute: assertNoPermissionNeeded,
      hasAuthorized: (access) =>
        !('permission' in access) &&
        [access.action].flat().some((action) => requested.has(`${access.resource}:${action}`)),
    };
  }

  /** Events without a handler. */
  uncovered(): AuthEvent[] {
    return (Object.keys(authEvents) as AuthEvent[]).filter((event) => !this.#handlerOf(event));
  }

  #handlerOf(event: AuthEvent): Handler | undefined {
    const { handlers } = this.#options;
    const [resource = '', action = ''] = event.split(':');
    return handlers.get(event) ?? handlers.get(resource) ?? handlers.get(`*:${action}`) ?? handlers.get('*');
  }

  async #authorize<E extends AuthEvent>(user: User, event: E, given: AuthValue<E>): Promise<Granted<E>> {
    assertNoForeignOwner(event, given, user);
    const requested = withMetadata(event, given);
    const access = await this.#access(user, event, requested);
    const value = withOwner(event, checked(event, authEvents[event], requested) as AuthValue<E>, user);
    const isOutside = event.endsWith(':create') && !access.matches(metadataOf(value) ?? {});
    if (isOutside)
      throw new Problem(
        'forbidden',
        `The auth handler for ${event} returned a filter that the new object does not pass. The handler must set the metadata that it filters by.`,
      );
    return { value, access };
  }

  async #access(user: User, event: AuthEvent, value: object): Promise<AccessFilter> {
    const handler = this.#handlerOf(event);
    if (!handler) return this.#withoutHandler(user, event);
    const [resource = '', action = ''] = event.split(':');
    const context = { event, resource, action, value, user, permissions: user.permissions };
    return callHandler(
      `for ${event}`,
      this.#options.timeoutMs,
      () => handler(context, value),
      (answer) => this.#read(event, answer),
    );
  }

  #read(event: AuthEvent, answer: unknown): AccessFilter {
    if (answer === true) return AccessFilter.everything;
    if (answer === false) throw new Problem('forbidden', 'You are not allowed to do this.');
    if (answer === undefined || answer === null) {
      if (this.#options.isLenient) return AccessFilter.everything;
      throw new Problem(
        'forbidden',
        `The auth handler for ${event} returned nothing. It must return a filter, or true to allow the operation without one.`,
      );
    }
    try {
      return AccessFilter.parse(answer);
    } catch (error) {
      if (!(error instanceof AccessFilterError)) throw error;
      throw new AuthHandlerError(
        `The auth handler for ${event} returned an invalid filter: ${error.message}`,
      );
    }
  }

  /** Without any handlers, each user has access to their own resources. */
  #withoutHandler(user: User, event: AuthEvent): AccessFilter {
    const { handlers, isLenient } = this.#options;
    if (isLenient) return AccessFilter.everything;
    if (handlers.size === 0 && !event.startsWith('store:'))
      return AccessFilter.parse({ [ownerKey]: user.identity });
    throw new Problem(
      'forbidden',
      `No auth handler covers ${event}. Register one: auth.on(${JSON.stringify(event)}, …).`,
    );
  }
}

/** Adds an empty metadata object where the event has metadata, so that handlers can write `value.metadata.owner = …`. */
const withMetadata = <E extends AuthEvent>(event: E, value: AuthValue<E>): AuthValue<E> =>
  'metadata' in authEvents[event].shape && metadataOf(value) === undefined
    ? { ...value, metadata: {} }
    : value;

/** Sets the owner of a new resource. An update cannot change the owner. */
const withOwner = <V extends object>(event: AuthEvent, value: V, { identity }: User): V => {
  if (!isWrite(event)) return value;
  const { [ownerKey]: _, ...metadata } = metadataOf(value) ?? {};
  if (!event.endsWith(':update')) return { ...value, metadata: { ...metadata, [ownerKey]: identity } };
  return metadataOf(value) === undefined ? value : { ...value, metadata };
};

const otherApi = (): Error =>
  new Error('A key of the platform API cannot authorize events of the deployment API');

export const keyAuthorizer = ({ role, permissions }: KeyGrant): Authorizer => ({
  user: undefined,
  authorize() {
    throw otherApi();
  },
  authorizeAssistant() {
    throw otherApi();
  },
  authorizeRoute(access) {
    if (!('permission' in access)) throw otherApi();
    if (permissions.includes(access.permission)) return;
    throw new Problem(
      'forbidden',
      `A key with the role ${role} does not have the permission ${access.permission}.`,
    );
  },
  hasAuthorized: (access) => 'permission' in access,
});

/** Throws `internal` with the reason for the log, since it is not the client's fault. */
export const checked = <T extends z.ZodType>(event: AuthEvent, schema: T, value: unknown): z.output<T> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Problem('internal', `The auth handler for ${event} changed the request into something invalid.`, {
    cause: new AuthHandlerError(`${issue?.path.join('.')}: ${issue?.message}`),
  });
};
