// Sends requests: the address of each route, headers, time limits, retries and errors.
import type { CallInput, consoleRoutes, deploymentRoutes, platformRoutes, RouteOutput } from '@svc/contract';
import { endpoints } from '@svc/contract/endpoints';
import { ApiError } from './api-error.ts';

type Routes = typeof deploymentRoutes & typeof platformRoutes & typeof consoleRoutes;
type RouteName = keyof Routes;

/** The path parameters, query and body that a route takes. */
type Input<Name extends RouteName> = CallInput<Routes[Name]>;
/** The JSON body that a route takes. */
export type Body<Name extends RouteName> = NonNullable<Input<Name>['body']>;
/** The query that a route takes. */
export type Query<Name extends RouteName> = NonNullable<Input<Name>['query']>;
/** What a route responds with. */
export type Result<Name extends RouteName> = RouteOutput<Routes[Name]>;

export interface ClientOptions {
  /** The server's address, such as `http://127.0.0.1:2024`. */
  apiUrl: string;
  /** Sent as `x-api-key`. */
  apiKey?: string;
  headers?: Record<string, string>;
  /** Used instead of the global fetch. */
  fetch?: typeof fetch;
  /** Milliseconds until a request without a response fails, 60,000 by default. Does not apply to streams and waits. */
  timeoutMs?: number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

interface RequestOptions extends CallOptions {
  headers?: Record<string, string> | undefined;
  /** The response may take as long as a run: no timeout. */
  unbounded?: boolean;
}

interface Request extends RequestOptions {
  method: string;
  path: string;
  query?: object | undefined;
  body?: unknown;
}

/** A response of which the body is unread. `done` ends its limit of time. */
interface Opened {
  response: Response;
  done: () => void;
}

const triesMax = 4;
const timeoutDefaultMs = 60_000;
const repeatable = new Set(['GET', 'PUT', 'DELETE']);

export class Transport {
  readonly #options: ClientOptions;
  readonly #base: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#base = options.apiUrl.replace(/\/+$/, '');
  }

  /** Calls a route of the contract and returns the JSON of its response, or undefined for a 204. Throws ApiError. */
  async call<Name extends RouteName>(
    name: Name,
    input: Input<Name>,
    options: RequestOptions = {},
  ): Promise<Result<Name>> {
    const { response, done } = await this.#open(name, input, options);
    try {
      return (response.status === 204 ? undefined : await response.json()) as Result<Name>;
    } finally {
      done();
    }
  }

  /** Calls a route of the contract and returns its successful response unread. Throws ApiError. */
  async open<Name extends RouteName>(
    name: Name,
    input: Input<Name>,
    options: RequestOptions = {},
  ): Promise<Response> {
    const { response } = await this.#open(name, input, options);
    return response;
  }

  #open<Name extends RouteName>(
    name: Name,
    { params, query, body }: Input<Name>,
    options: RequestOptions = {},
  ): Promise<Opened> {
    const { method, path } = endpoints[name];
    return this.#send({
      method: method.toUpperCase(),
      path: fillPath(path, params),
      query,
      body,
      ...options,
    });
  }

  /** Follows a path that a response named in its `Location` header. */
  async follow(path: string, options: RequestOptions): Promise<Response> {
    const { response } = await this.#send({ method: 'GET', path, ...options });
    return response;
  }

  /**
   * Repeats a request when the connection fails or the server reports a passing condition, if sending it twice has the same effect
   * as sending it once.
   */
  async #send(request: Request): Promise<Opened> {
    const isRepeatable = repeatable.has(request.method) || request.headers?.['idempotency-key'] !== undefined;
    const tries = isRepeatable ? triesMax : 1;
    for (let attempt = 1; ; attempt++) {
      const { signal, done } = timeLimit(
        request.unbounded ? undefined : (this.#options.timeoutMs ?? timeoutDefaultMs),
        request.signal,
      );
      try {
        const response = await this.#fetch({ ...request, signal });
        if (response.ok) return { response, done };
        throw await toError(response);
      } catch (error) {
        done();
        const canRepeat = error instanceof ApiError ? error.retryable : !isAbort(error);
        if (attempt >= tries || !canRepeat || request.signal?.aborted) throw error;
        await pause(100 * 2 ** attempt, request.signal);
      }
    }
  }

  #fetch({ method, path, query, body, headers, signal }: Request): Promise<Response> {
    const { apiKey, fetch: fetcher = fetch } = this.#options;
    return fetcher(this.#base + path + toQuery(query), {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        ...this.#options.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  }
}

/** Replaces each `:name` of a route's path by its encoded parameter. */
const fillPath = (path: string, params: Readonly<Record<string, unknown>> = {}): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));

const toQuery = (query: object = {}): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
};

const toError = async (response: Response): Promise<ApiError> => {
  const text = await response.text();
  const requestId = response.headers.get('x-request-id') ?? undefined;
  let body: object = { message: text };
  try {
    body = JSON.parse(text) as object;
  } catch {
    // The response comes from a proxy rather than from the server: its text is the message.
  }
  return new ApiError(response.status, body, requestId);
};

/**
 * A signal that is aborted after `ms`, or with the other signal. Not `AbortSignal.any()` of an `AbortSignal.timeout()`: Node collects a
 * timeout that only such a signal depends on as garbage, and then the time never ends.
 */
const timeLimit = (
  ms: number | undefined,
  signal: AbortSignal | undefined,
): { signal: AbortSignal | undefined; done: () => void } => {
  if (ms === undefined) return { signal, done: () => undefined };
  const late = new AbortController();
  const end = (): void =>
    late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(end, ms);
  // In Node, a process does not wait for it.
  (timer as { unref?: () => void }).unref?.();
  return {
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    done: () => clearTimeout(timer),
  };
};

const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError');

/** Resolves after a time; rejects with the signal's reason when it fires first. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => (clearTimeout(timer), reject(signal?.reason as Error));
    const timer = setTimeout(() => (signal?.removeEventListener('abort', stop), resolve()), ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
