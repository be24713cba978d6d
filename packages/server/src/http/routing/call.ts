import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { PassThrough } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { unrestrictedAuthorizer, type Authorizer } from '../../auth/authorization/authorizer.ts';
import { anybody, type Authenticate, type Caller, type Credentials } from '../../auth/principal/caller.ts';
import type { SchemeOf } from '../../auth/principal/client-address.ts';
import type { CreatedRun } from '../../api/call.ts';
import type { Call } from '../../api/handlers.ts';
import type { RequestEntry, RequestSpan } from '../server/request-log.ts';

/** A request that comes as a Fetch API Request has no request and response of Node. */
export interface HttpEnv {
  Bindings: Partial<HttpBindings> & { outer?: OuterRequest };
}

/** The client's request. Set when the project's app, or a program that contains this server, passes the request to the built-in routes. */
export interface OuterRequest {
  readonly requestId?: string;
  /** Aborted when the client has disconnected. The signal of the request itself may differ: middleware can replace the request. */
  readonly signal: AbortSignal;
  /** Aborted when the client has got a response, or has disconnected. Middleware may have replaced the response. */
  readonly closed: AbortSignal;
  readonly remoteAddress: string | undefined;
  /** Node's response. Another part of the program writes to it. */
  readonly outgoing?: ServerResponse | undefined;
  /** True when the path of the request has no prefix any more. */
  readonly isInsidePrefix: boolean;
  /** What a program that contains this server has passed with the request, for its `authenticate`. */
  readonly host?: unknown;
  /** The body, if a program that contains this server has read it. */
  readonly body?: Uint8Array | undefined;
  /** Set when the request was authenticated before the project's middleware. */
  readonly authenticated?: Authenticated | undefined;
  /** Set when another part logs the request; called instead of the log. */
  readonly onAnswer?: (entry: RequestEntry) => void;
  /** The span of the client's request, which the part that logs it ends. */
  readonly span?: RequestSpan | undefined;
}

/** An authentication, and what it needs to be repeated for a later message on the connection. */
export interface Authenticated {
  readonly by: Authenticate;
  readonly credentials: Credentials;
  readonly caller: Caller;
}

export type HttpContext = Context<HttpEnv>;

/** The part of a context that a call reads. */
interface RequestSource {
  readonly req: { readonly raw: Request; readonly url: string };
  readonly env: HttpEnv['Bindings'];
}

const safeId = /^[\x21-\x7e]{1,128}$/;

/** The id that the client sent, if it is safe in a header and a log line; otherwise a new one. */
export const requestIdOf = (sent: string | undefined): string =>
  sent !== undefined && safeId.test(sent) ? sent : randomUUID();

/** What a call has to know of its server. */
export interface CallOptions {
  /** The path before all routes, or empty. */
  prefix: string;
  schemeOf: SchemeOf;
}

/** One request, as handlers get it. The abort signal is created only when a handler reads it. */
export class RequestCall implements Call, Credentials {
  readonly requestId: string;
  /** The caller to whom rate limits apply. */
  caller: Caller = anybody;
  authorizer: Authorizer = unrestrictedAuthorizer;
  ticket: string | undefined;
  readonly #context: RequestSource;
  readonly #onFinish: (() => void)[] = [];
  readonly #options: CallOptions;
  /** The body of a streamed response. Set when another part of the program writes to Node's response. */
  streamed: PassThrough | undefined;
  span: RequestSpan | undefined;

  constructor(context: RequestSource, options: CallOptions, requestId?: string) {
    this.#context = context;
    this.#options = options;
    this.requestId = requestId ?? this.outer?.requestId ?? requestIdOf(this.header('x-request-id'));
  }

  /** A call for a later message on the same connection. */
  next(): RequestCall {
    const call = new RequestCall(this.#context, this.#options, this.requestId);
    call.span = this.span;
    return call;
  }

  /** Accepts the ticket in the query. Only requests for a WebSocket may have one. */
  acceptTicket(): void {
    this.ticket = new URL(this.#context.req.url).searchParams.get('ticket') ?? undefined;
  }

  get credentials(): Credentials {
    return this;
  }

  get outer(): OuterRequest | undefined {
    return this.#context.env?.outer;
  }

  /** Node's response, when this server writes it. */
  get ownOutgoing(): ServerResponse | undefined {
    return this.#context.env?.outgoing;
  }

  /** Node's response, also when another part of the program writes it. */
  get outgoing(): ServerResponse | undefined {
    return this.ownOutgoing ?? this.outer?.outgoing;
  }

  get isInProcess(): boolean {
    return this.#context.env?.incoming === undefined && this.outgoing === undefined;
  }

  get host(): unknown {
    return this.outer?.host;
  }

  get signal(): AbortSignal {
    return this.outer?.signal ?? this.#context.req.raw.signal;
  }

  get remoteAddress(): string | undefined {
    return this.#context.env?.incoming?.socket.remoteAddress ?? this.outer?.remoteAddress;
  }

  get address(): string {
    const url = new URL(this.#context.req.url);
    if (this.#options.schemeOf(this) === 'https') url.protocol = 'https:';
    return url.origin + this.#options.prefix;
  }

  header(name: string): string | undefined {
    const { body } = this.outer ?? {};
    // These headers describe the body as sent; the program has already decoded it.
    if (body !== undefined && name === 'content-encoding') return undefined;
    if (body !== undefined && name === 'content-length') return String(body.length);
    const incoming = this.#context.env?.incoming;
    if (incoming === undefined) return this.#context.req.raw.headers.get(name) ?? undefined;
    const value = incoming.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  headers(): Record<string, string> {
    const incoming = this.#context.env?.incoming;
    return Object.fromEntries(
      incoming === undefined ? this.#context.req.raw.headers : Object.entries(incoming.headers).map(joined),
    );
  }

  runCreated(run: CreatedRun): void {
    this.span?.created(run);
  }

  /** Registers work for the time when the request has been answered. */
  onFinish(work: () => void): void {
    this.#onFinish.push(work);
  }

  finish(): void {
    for (const work of this.#onFinish.splice(0)) work();
  }

  request(): Request {
    const { method, url, headers } = this.#context.req.raw;
    const incoming = this.#context.env?.incoming;
    // Built from Node's own object: twice as fast as through the Headers that Hono would create.
    const sent = incoming === undefined ? headers : new Headers(Object.entries(incoming.headers).map(joined));
    return new Request(this.outer?.isInsidePrefix === true ? withPrefix(url, this.#options.prefix) : url, {
      method,
      headers: sent,
    });
  }
}

const withPrefix = (url: string, prefix: string): string => {
  const { origin, pathname, search } = new URL(url);
  return origin + prefix + pathname + search;
};

const joined = ([name, value]: [string, string | string[] | undefined]): [string, string] => [
  name,
  Array.isArray(value) ? value.join(', ') : (value ?? ''),
];
