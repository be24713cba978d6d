// HTTP as a client does it that wants an answer: it asks again, at any node, until it has one.
import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents } from '../../../sdk/src/sse.ts';
import type { Frame, Segment } from './history.ts';
import type { Random } from './random.ts';

export interface Answer {
  status: number;
  body: unknown;
  headers: Headers;
}

export interface Question {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Milliseconds for one try to be answered. */
  tryMs?: number;
  /** Milliseconds for all tries together. */
  patienceMs?: number;
}

/** Nobody gave a definite answer in time. */
export class NoAnswer extends Error {
  constructor({ method, path }: Question, last: unknown) {
    super(`${method} ${path} was not answered: ${last instanceof Error ? reasonOf(last) : String(last)}`);
    this.name = 'NoAnswer';
  }
}

const reasonOf = (error: Error): string =>
  error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;

/** What the server says when it cannot tell yet. */
const notNow = new Set([502, 503, 504]);

/** One try at one node. Rejects when the connection breaks. */
export const ask = async (
  url: string,
  { method, path, body, headers, tryMs = 10_000 }: Question,
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

  /** Any of the nodes that are up, if one is. */
  anyUrl(): string | undefined {
    const urls = this.#urls();
    return urls.length === 0 ? undefined : this.#random.pick(urls);
  }

  /** For questions that may be asked twice. */
  async call(question: Question): Promise<Answer> {
    const deadline = performance.now() + (question.patienceMs ?? 30_000);
    for (;;) {
      let last: unknown = 'no node is up';
      try {
        const url = this.anyUrl();
        if (url !== undefined) {
          const answer = await ask(url, question);
          if (!notNow.has(answer.status)) return answer;
          last = answer.status;
        }
      } catch (error) {
        last = error;
      }
      if (performance.now() > deadline) throw new NoAnswer(question, last);
      await sleep(this.#random.between(20, 200));
    }
  }
}

/**
 * Reads a stream to its end, or until `leaveAfter` events have come. `onOpen` is called with the head of the
 * response. Never rejects because of a connection: that is how a segment ends.
 */
export const readStream = async (
  url: string,
  { method, path, body, headers }: Question,
  {
    leaveAfter = Infinity,
    onOpen,
    signal,
  }: {
    leaveAfter?: number;
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
      if (frames.length >= leaveAfter) return { status, frames, end: 'left' };
    }
    return { status, frames, end: 'clean' };
  } catch {
    return { status, frames, end: 'broken' };
  }
};
