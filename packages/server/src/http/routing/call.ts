import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { unrestrictedAuthorizer, type Authorizer } from '../../auth/authorization/authorizer.ts';
import { anybody, type Caller, type Credentials } from '../../auth/principal/caller.ts';
import type { Call } from '../../api/handlers.ts';

/** Node's own request and response; absent where a test calls `app.request()`. */
export interface HttpEnv {
  Bindings: Partial<HttpBindings>;
}

export type HttpContext = Context<HttpEnv>;

const safeId = /^[\x21-\x7e]{1,128}$/;

/** The id that the client sent, if it is safe in a header and a log line; otherwise a new one. */
export const requestIdOf = (sent: string | undefined): string =>
  sent !== undefined && safeId.test(sent) ? sent : randomUUID();

/** One request, as handlers get it. The abort signal is created only when a handler reads it. */
export class RequestCall implements Call, Credentials {
  readonly requestId: string;
  /** The caller to whom rate limits apply. */
  caller: Caller = anybody;
  authorizer: Authorizer = unrestrictedAuthorizer;
  readonly #context: HttpContext;
  readonly #onFinish: (() => void)[] = [];

  constructor(context: HttpContext) {
    this.#context = context;
    this.requestId = requestIdOf(this.header('x-request-id'));
  }

  get signal(): AbortSignal {
    return this.#context.req.raw.signal;
  }

  get remoteAddress(): string | undefined {
    return this.#context.env?.incoming?.socket.remoteAddress;
  }

  /** Proxies that terminate TLS set `x-forwarded-proto`. */
  get origin(): string {
    const url = new URL(this.#context.req.url);
    if (this.header('x-forwarded-proto') === 'https') url.protocol = 'https:';
    return url.origin;
  }

  header(name: string): string | undefined {
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
    return new Request(url, { method, headers: sent });
  }
}

const joined = ([name, value]: [string, string | string[] | undefined]): [string, string] => [
  name,
  Array.isArray(value) ? value.join(', ') : (value ?? ''),
];
