// Requests: one place for the address, the headers, retries and errors.
import { ApiError } from './api-error.ts';

export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:2024`. */
  apiUrl: string;
  /** Sent as `x-api-key`. */
  apiKey?: string;
  headers?: Record<string, string>;
  /** In place of the global fetch. */
  fetch?: typeof fetch;
  /** Milliseconds for a request to be answered; streams and waits are not bounded by it. */
  timeoutMs?: number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface Request extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  /** For responses that come when they come. */
  unbounded?: boolean;
}

const triesMax = 4;
const repeatable = new Set(['GET', 'PUT', 'DELETE']);

/** A path with its segments encoded: path`/threads/${id}`. */
export const path = (parts: TemplateStringsArray, ...segments: string[]): string =>
  parts.reduce((text, part, index) => text + encodeURIComponent(segments[index - 1] ?? '') + part);

export class Transport {
  readonly #options: ClientOptions;
  readonly #base: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#base = options.apiUrl.replace(/\/+$/, '');
  }

  /** The JSON of a successful response; undefined for one without content. Throws ApiError. */
  async json<T>(request: Request): Promise<T> {
    const response = await this.send(request);
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /**
   * A successful response. Requests that change nothing by being sent twice are tried again when the connection
   * fails or the server is not able for the moment.
   */
  async send(request: Request): Promise<Response> {
    const isRepeatable = repeatable.has(request.method) || request.headers?.['idempotency-key'] !== undefined;
    const tries = isRepeatable ? triesMax : 1;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.#fetch(request);
        if (response.ok) return response;
        throw await toError(response);
      } catch (error) {
        const canRepeat = error instanceof ApiError ? error.retryable : !isAbort(error);
        if (attempt >= tries || !canRepeat || request.signal?.aborted) throw error;
        await pause(100 * 2 ** attempt, request.signal);
      }
    }
  }

  #fetch({ method, path: where, query, body, headers, signal, unbounded }: Request): Promise<Response> {
    const { apiKey, timeoutMs = 60_000, fetch: fetcher = fetch } = this.#options;
    const signals = [signal, unbounded ? undefined : AbortSignal.timeout(timeoutMs)].filter(
      (one) => one !== undefined,
    );
    return fetcher(this.#base + where + toQuery(query), {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
        ...this.#options.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}),
    });
  }
}

const toQuery = (query: Record<string, unknown> = {}): string => {
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
    // Not from our server (a proxy, say): the text is all there is.
  }
  return new ApiError(response.status, body, requestId);
};

const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError');

export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => (clearTimeout(timer), reject(signal?.reason as Error));
    const timer = setTimeout(() => (signal?.removeEventListener('abort', stop), resolve()), ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
