// Requests to the server that is checked. Scenarios use nothing else.
import { CheckFailed, checkStatus, getText, NotTried } from './check.ts';
import { readEvents, type ServerEvent } from './events.ts';
import { Socket } from './socket.ts';

export type Caller = 'first' | 'second' | 'nobody';

export interface Answer {
  /** Method and path, for messages. */
  request: string;
  status: number;
  headers: Headers;
  text: string;
  /** Parsed JSON; undefined when the body is no JSON. */
  body: unknown;
}

export interface EventStream {
  headers: Headers;
  events: AsyncGenerator<ServerEvent>;
}

export interface ClientOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  secondHeaders: Readonly<Record<string, string>> | undefined;
  /** Graph ids. */
  agent: string;
  approval: string;
  signal: AbortSignal;
}

interface Sending {
  caller?: Caller;
  headers?: Record<string, string>;
}

/** Characters of one response that are read. */
const charsMax = 20_000_000;

export class ServerClient {
  readonly agent: string;
  readonly approval: string;
  readonly #options: ClientOptions;
  readonly #threads = new Set<string>();

  constructor(options: ClientOptions) {
    this.#options = options;
    this.agent = options.agent;
    this.approval = options.approval;
  }

  /** `isConfigured`: whether the caller has a credential. */
  has(caller: 'first' | 'second'): boolean {
    const { headers, secondHeaders } = this.#options;
    return caller === 'first' ? Object.keys(headers).length > 0 : secondHeaders !== undefined;
  }

  async send(method: string, path: string, body?: unknown, sending: Sending = {}): Promise<Answer> {
    const response = await this.#fetch(method, path, body, sending);
    const text = await readText(response);
    return {
      request: `${method} ${path}`,
      status: response.status,
      headers: response.headers,
      text,
      body: parse(text),
    };
  }

  /** Sends a request that must succeed, and returns the body. */
  async call(method: string, path: string, body?: unknown, sending?: Sending): Promise<unknown> {
    const answer = await this.send(method, path, body, sending);
    checkStatus(answer, 200, 201, 202, 204);
    return answer.body;
  }

  /** Opens a stream of events. Leave the iteration early to close it. */
  async stream(method: string, path: string, body?: unknown, sending: Sending = {}): Promise<EventStream> {
    const response = await this.#fetch(method, path, body, {
      ...sending,
      headers: { accept: 'text/event-stream', ...sending.headers },
    });
    const type = response.headers.get('content-type') ?? 'none';
    if (response.ok && type.startsWith('text/event-stream'))
      return { headers: response.headers, events: readEvents(response) };
    const text = await readText(response);
    checkStatus({ request: `${method} ${path}`, status: response.status, text }, 200);
    throw new CheckFailed(`${method} ${path}: expected content-type text/event-stream, got ${type}`);
  }

  /** Opens a WebSocket. Throws `HandshakeRefused` for another response than 101. */
  socket(path: string, { caller = 'first', headers = {} }: Sending = {}): Promise<Socket> {
    const url = `${this.#options.url.replace(/^http/, 'ws')}${path}`;
    return Socket.open(url, { ...this.#credential(caller), ...headers }, this.#options.signal);
  }

  /** The id of a new thread, which is deleted after the scenario. */
  async newThread(fields: object = {}): Promise<string> {
    const body = await this.call('POST', '/threads', { metadata: { conformance: true }, ...fields });
    return this.own(getText(body, 'thread_id'));
  }

  /** Deletes the thread after the scenario. */
  own(thread_id: string): string {
    this.#threads.add(thread_id);
    return thread_id;
  }

  async deleteThreads(): Promise<void> {
    for (const thread_id of this.#threads)
      checkStatus(await this.send('DELETE', `/threads/${thread_id}`), 200, 202, 204, 404);
  }

  async #fetch(method: string, path: string, body: unknown, { caller = 'first', headers }: Sending) {
    const isText = typeof body === 'string';
    return fetch(this.#options.url + path, {
      method,
      redirect: 'manual',
      signal: this.#options.signal,
      headers: {
        accept: 'application/json',
        ...this.#credential(caller),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
  }

  #credential(caller: Caller): Readonly<Record<string, string>> {
    const { headers: first, secondHeaders: second } = this.#options;
    const credential = { first, second, nobody: {} }[caller];
    if (credential === undefined) throw new NotTried('needs --second-header');
    return credential;
  }
}

const readText = async (response: Response): Promise<string> => {
  const parts: string[] = [];
  let chars = 0;
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    chars += part.length;
    if (chars > charsMax) throw new CheckFailed(`expected a response of less than ${charsMax} characters`);
    parts.push(part);
  }
  return parts.join('');
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // not JSON; scenarios check that
  }
};
