// A request that the project's app in Python serves. Bodies are sent in pieces, each of which the other side has to take before the next one.
import type { Context } from 'hono';
import type { OwnRequests } from '../auth/principal/own-requests.ts';
import type { User } from '../auth/principal/caller.ts';
import type { Frame, FrameHeader } from '../engine/python/frames.ts';
import type { PythonProcess, PythonReply } from '../engine/python/python-process.ts';
import { requestFields } from './python-request.ts';

type Pairs = [name: string, value: string][];

/** A body that is written in pieces. A write resolves when the reader has taken the piece, and rejects when it has gone. */
class WrittenBody {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  /** `onCancel` is called when the reader stops reading before the end, and when the body fails. */
  constructor(onCancel: () => void) {
    // Its default queues hold no piece that is not read.
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.readable = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(onCancel);
  }

  async write(data: Buffer | undefined, more: boolean): Promise<void> {
    if (data !== undefined) await this.#writer.write(data);
    if (!more) await this.#writer.close();
  }

  fail(error: Error): void {
    void this.#writer.abort(error).catch(() => undefined); // it has ended already
  }
}

interface ExchangeParts {
  process: PythonProcess;
  context: Context;
  ownRequests: OwnRequests | undefined;
  /** Serves the request of the context by the built-in routes. */
  inner: () => Promise<Response>;
}

/** Responses with these statuses have no body. */
const emptyStatuses = new Set([204, 205, 304]);
/** They describe a connection. */
const hopHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

export class AppExchange {
  readonly process: PythonProcess;
  /** Resolves when nothing more is received of this request. */
  readonly ended: Promise<void>;
  readonly #number: number;
  readonly #parts: ExchangeParts;
  readonly #request: Request;
  readonly #response: Promise<Response>;
  #resolve!: (response: Response) => void;
  #reject!: (error: Error) => void;
  #end!: () => void;
  /** Of the response. */
  #body: WrittenBody | undefined;
  /** Of the request for the built-in routes, if the middleware has read it. */
  #innerBody: WrittenBody | undefined;
  #isEmpty = false;

  constructor(number: number, parts: ExchangeParts) {
    this.#number = number;
    this.#parts = parts;
    this.process = parts.process;
    this.#request = parts.context.req.raw;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Sends the request. Resolves when the response begins. */
  begin(): Promise<Response> {
    const { context, ownRequests } = this.#parts;
    const auth = context.get('auth') as { user: User; scopes: unknown } | undefined;
    // A route for which nobody has authenticated acts for nobody.
    const credential = auth && ownRequests?.issue(auth.user);
    this.#send({ kind: 'request', ...requestFields(this.#request), ...auth, credential });
    this.#request.signal.addEventListener('abort', () => this.#disconnect(), { once: true });
    return this.#response;
  }

  fail(error: Error): void {
    this.#reject(error);
    this.#body?.fail(error);
    this.#innerBody?.fail(error);
    this.#end();
  }

  /** Handles a frame. Returns the reply of a call. */
  async receive({ header, parts }: Frame): Promise<PythonReply> {
    const [data] = parts;
    switch (header.kind) {
      case 'want_body':
        void this.#sendBody('chunk', this.#request.body);
        return {};
      case 'response':
        this.#respond(header['status'] as number, header['headers'] as Pairs);
        return {};
      case 'body':
        await this.#write(data, header['more'] === true);
        return {};
      case 'inner':
        return this.#serveInner(header);
      case 'inner_body':
        await this.#innerBody?.write(data, header['more'] === true);
        return {};
      default: {
        const { message = 'the app has sent no response' } = (header['error'] ?? {}) as { message?: string };
        this.fail(new Error(message));
        return {};
      }
    }
  }

  #respond(status: number, given: Pairs): void {
    if (!Number.isInteger(status) || status < 200 || status > 599)
      throw new Error(`The app has sent the status ${status}; it must be between 200 and 599`);
    const headers = new Headers();
    for (const [name, value] of given) if (!hopHeaders.has(name.toLowerCase())) headers.append(name, value);
    this.#isEmpty = emptyStatuses.has(status) || this.#request.method === 'HEAD';
    if (this.#isEmpty) return this.#resolve(new Response(null, { status, headers }));
    this.#body = new WrittenBody(() => this.#disconnect());
    this.#resolve(new Response(this.#body.readable, { status, headers }));
  }

  async #write(data: Buffer | undefined, more: boolean): Promise<void> {
    try {
      if (!this.#isEmpty) await this.#body?.write(data, more);
    } finally {
      if (!more) this.#end();
    }
  }

  /** The request as the app's middleware has left it. */
  async #serveInner(header: FrameHeader): Promise<PythonReply> {
    const { context, inner } = this.#parts;
    const { origin } = new URL(this.#request.url);
    const { method, path, query, headers, streamed } = header as unknown as {
      method: string;
      path: string;
      query: string;
      headers: Pairs;
      streamed: boolean;
    };
    let body: ReadableStream<Uint8Array> | null = this.#request.body;
    if (streamed) {
      // A built-in route may refuse the request before it has read the body.
      this.#innerBody = new WrittenBody(() => undefined);
      body = this.#innerBody.readable;
    }
    const hasBody = method !== 'GET' && method !== 'HEAD' && body !== null;
    context.req.raw = new Request(`${origin}${path}${query === '' ? '' : `?${query}`}`, {
      method,
      headers,
      signal: this.#request.signal,
      ...(hasBody ? { body, duplex: 'half' } : {}),
    });
    const response = await inner();
    void this.#sendBody('inner_chunk', response.body);
    return { header: { status: response.status, headers: [...response.headers] } };
  }

  async #sendBody(kind: 'chunk' | 'inner_chunk', body: ReadableStream<Uint8Array> | null): Promise<void> {
    const request = this.#number;
    try {
      for await (const chunk of body ?? [])
        await this.process.call({ kind, request, more: true }, [Buffer.from(chunk)]);
    } catch {
      // The client has gone, the body is too large, or the process has ended. All of them end the exchange.
      this.#disconnect();
    }
    await this.process.call({ kind, request, more: false }).catch(() => undefined); // the same
  }

  #disconnect(): void {
    this.#send({ kind: 'disconnect' });
  }

  #send(header: FrameHeader): void {
    this.process.send({ ...header, request: this.#number });
  }
}
