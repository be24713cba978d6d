// An HTTP client that retries at any node until it has a definite response.
import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents } from '../../../sdk/src/sse.ts';
import type { Frame, Segment } from './history.ts';
import type { Random } from './random.ts';

export interface Answer {
  status: number;
  body: unknown;
  headers: Headers;
}

export interface RequestSpec {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Time limit of one try in milliseconds. */
  tryMs?: number;
  /** Time limit of all tries together in milliseconds. */
  totalMs?: number;
}

/** No definite response in time. */
export class NoResponse extends Error {
  constructor({ method, path }: RequestSpec, last: unknown) {
    super(`${method} ${path} was not answered: ${last instanceof Error ? reasonOf(last) : String(last)}`);
    this.name = 'NoResponse';
  }
}

const reasonOf = (error: Error): string =>
  error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;

/** Statuses after which a request may be retried. */
const retryable = new Set([502, 503, 504]);

/** One try at one node. Rejects when the connection breaks. */
export const sendOnce = async (
  url: string,
  { method, path, body, headers, tryMs = 10_000 }: RequestSpec,
): Promise<Answer> => {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(tryMs),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? undefined : JSON.parse(text),
    headers: response.headers,
  };
};

export class Caller {
  readonly #urls: () => string[];
  readonly #random: Random;

  constructor(urls: () => string[], random: Random) {
    this.#urls = urls;
    this.#random = random;
  }

  /** A random node of those that are up. */
  anyUrl(): string | undefined {
    const urls = this.#urls();
    return urls.length === 0 ? undefined : this.#random.pick(urls);
  }

  /** Retries the request, which must be idempotent. */
  async call(request: RequestSpec): Promise<Answer> {
    const deadline = performance.now() + (request.totalMs ?? 30_000);
    for (;;) {
      let last: unknown = 'no node is up';
      try {
        const url = this.anyUrl();
        if (url !== undefined) {
          const answer = await sendOnce(url, request);
          if (!retryable.has(answer.status)) return answer;
          last = answer.status;
        }
      } catch (error) {
        last = error;
      }
      if (performance.now() > deadline) throw new NoResponse(request, last);
      await sleep(this.#random.between(20, 200));
    }
  }
}

/**
 * Reads a stream to its end, or until `disconnectAfter` events were received. `onOpen` is called with the head of the response. A broken
 * connection does not reject: it is reported as the end of the segment.
 */
export const readStream = async (
  url: string,
  { method, path, body, headers }: RequestSpec,
  {
    disconnectAfter = Infinity,
    onOpen,
    signal,
  }: {
    disconnectAfter?: number;
    onOpen?: (answer: { status: number; headers: Headers }) => void;
    signal?: AbortSignal;
  } = {},
): Promise<Segment & { status: number }> => {
  const frames: Frame[] = [];
  let status = 0;
  try {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    status = response.status;
    onOpen?.(response);
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      return { status, frames, end: 'broken' };
    }
    for await (const { id = '', event, data } of readEvents(response.body)) {
      frames.push({ id, event, data });
      if (frames.length >= disconnectAfter) return { status, frames, end: 'disconnected' };
    }
    return { status, frames, end: 'clean' };
  } catch {
    return { status, frames, end: 'broken' };
  }
};
