// What a caller may do. Every operation asks before it touches storage, with the payload that it is about; what comes
// back is the payload as the handler left it, and the condition that goes into the statement.
import { authEvents, type AuthEvent, type AuthValue } from '@svc/contract';
import { invalid, Problem } from '@svc/contract/problem';
import type { Handler } from '../handlers/auth-definition.ts';
import type { Caller, User } from '../principal/caller.ts';
import { checked } from '../handlers/changed-request.ts';
import { AccessFilter, AccessFilterError } from './access-filter.ts';
import { AuthHandlerError, callHandler } from '../handlers/handler-call.ts';

export interface Granted<E extends AuthEvent> {
  value: AuthValue<E>;
  filter: AccessFilter;
}

export interface Authorizer {
  readonly user: User | undefined;
  /** Throws `forbidden` when it may not be done, and whatever an auth handler says instead. */
  authorize<E extends AuthEvent>(event: E, value: AuthValue<E>): Promise<Granted<E>> | Granted<E>;
  /**
   * Which assistants a run or cron may be made of. Default assistants are the deployment's own: a handler may refuse them,
   * and is not needed to allow them; no filter applies, since they are nobody's.
   */
  authorizeAssistant(assistant_id: string, isDefault: boolean): Promise<AccessFilter> | AccessFilter;
  /** Whether anything may be done that is one of these events: what nobody asked about was not guarded. */
  hasAuthorized(resource: string, action: string | readonly string[]): boolean;
}

/** The metadata key that says whose a resource is. Only the server writes it. */
export const ownerKey = 'svc_auth_user_id';

type Metadata = Record<string, unknown>;

const metadataOf = (value: object): Metadata | undefined =>
  'metadata' in value ? (value.metadata as Metadata | undefined) : undefined;

const isWrite = (event: AuthEvent): boolean => /:(create|create_run|update)$/.test(event);

/** Nobody's name is theirs to write: a client that sends back what it has read does no harm. */
const assertOwn = (event: AuthEvent, value: object, user: User | undefined): void => {
  const metadata = isWrite(event) ? metadataOf(value) : undefined;
  if (metadata === undefined || !Object.hasOwn(metadata, ownerKey)) return;
  if (user !== undefined && metadata[ownerKey] === user.identity) return;
  throw invalid(['body', 'metadata', ownerKey], `${ownerKey} is written by the server`);
};

/** Where users are not told apart everybody may do everything. */
export const unrestrictedAuthorizer: Authorizer = {
  user: undefined,
  authorize(event, value) {
    assertOwn(event, value, undefined);
    return { value, filter: AccessFilter.everything };
  },
  authorizeAssistant: () => AccessFilter.everything,
  hasAuthorized: () => true,
};

export interface AuthorizerOptions {
  handlers: ReadonlyMap<string, Handler>;
  /** Whether what no handler covers, and nothing as an answer, is allowed, as with the stock server. */
  isLenient: boolean;
  timeoutMs: number;
}

/** Asks the project's handlers: the one for the event, else for the resource, else for the action, else for all. */
export class AuthHandlers {
  readonly #options: AuthorizerOptions;

  constructor(options: AuthorizerOptions) {
    this.#options = options;
  }

  authorizerFor({ user }: Caller): Authorizer {
    if (user === undefined) return unrestrictedAuthorizer;
    const asked = new Set<string>();
    return {
      user,
      authorize: (event, value) => {
        asked.add(event);
        return this.#authorize(user, event, value);
      },
      authorizeAssistant: async (assistant_id, isDefault) => {
        if (isDefault && !this.#handlerOf('assistants:read')) return AccessFilter.everything;
        const { filter } = await this.#authorize(user, 'assistants:read', {
          assistant_id,
          metadata: undefined,
        });
        return isDefault ? AccessFilter.everything : filter;
      },
      hasAuthorized: (resource, action) => [action].flat().some((one) => asked.has(`${resource}:${one}`)),
    };
  }

  /** Events that no handler covers. */
  uncovered(): AuthEvent[] {
    return (Object.keys(authEvents) as AuthEvent[]).filter((event) => !this.#handlerOf(event));
  }

  #handlerOf(event: AuthEvent): Handler | undefined {
    const { handlers } = this.#options;
    const [resource = '', action = ''] = event.split(':');
    return handlers.get(event) ?? handlers.get(resource) ?? handlers.get(`*:${action}`) ?? handlers.get('*');
  }

  async #authorize<E extends AuthEvent>(user: User, event: E, given: AuthValue<E>): Promise<Granted<E>> {
    assertOwn(event, given, user);
    const asked = withMetadata(event, given);
    const filter = await this.#filter(user, event, asked);
    const value = stamp(event, checked(event, authEvents[event], asked) as AuthValue<E>, user);
    const isOutside = event.endsWith(':create') && !filter.matches(metadataOf(value) ?? {});
    if (isOutside)
      throw new Problem(
        'forbidden',
        `The auth handler for ${event} returned a filter that what is to be created does not pass: it must set the metadata that it filters by.`,
      );
    return { value, filter };
  }

  async #filter(user: User, event: AuthEvent, value: object): Promise<AccessFilter> {
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
    if (answer === false) throw new Problem('forbidden', 'You may not do this.');
    if (answer === undefined || answer === null) {
      if (this.#options.isLenient) return AccessFilter.everything;
      throw new Problem(
        'forbidden',
        `The auth handler for ${event} returned nothing. It must return a filter, or true to allow it without one.`,
      );
    }
    try {
      return AccessFilter.parse(answer);
    } catch (error) {
      if (!(error instanceof AccessFilterError)) throw error;
      throw new AuthHandlerError(`The auth handler for ${event} returned no filter: ${error.message}`);
    }
  }

  /** Without any handler each user has what is theirs. */
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

/** Handlers write `value.metadata.owner = …`: there is an object to write to wherever metadata is meant. */
const withMetadata = <E extends AuthEvent>(event: E, value: AuthValue<E>): AuthValue<E> =>
  'metadata' in authEvents[event].shape && metadataOf(value) === undefined
    ? { ...value, metadata: {} }
    : value;

/** What is created says whose it is; what is updated stays whose it was. */
const stamp = <V extends object>(event: AuthEvent, value: V, { identity }: User): V => {
  if (!isWrite(event)) return value;
  const { [ownerKey]: _, ...metadata } = metadataOf(value) ?? {};
  if (!event.endsWith(':update')) return { ...value, metadata: { ...metadata, [ownerKey]: identity } };
  return metadataOf(value) === undefined ? value : { ...value, metadata };
};
