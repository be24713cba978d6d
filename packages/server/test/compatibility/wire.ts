// Sends the requests of a scenario to one server, and records the responses.
import type { Json } from './compare.ts';

/** One response, with what a client can see of it. */
export type Recorded = Json;

export interface Call {
  body?: unknown;
  headers?: Record<string, string>;
}

/** Headers that clients read. */
const readHeaders = [
  'content-type',
  'content-location',
  'location',
  'www-authenticate',
  'x-pagination-next',
  'x-pagination-total',
];

export class Wire {
  readonly #url: string;
  readonly #recorded = new Map<string, Recorded>();

  constructor(url: string) {
    this.#url = url;
  }

  get recorded(): ReadonlyMap<string, Recorded> {
    return this.#recorded;
  }

  /** Sends a request without recording it, and returns the body of the response. */
  async send<T = never>(method: string, path: string, { body, headers = {} }: Call = {}): Promise<T> {
    const response = await this.#fetch(method, path, body, headers);
    return bodyOf(response, await response.text()) as T;
  }

  /** Sends a request and records the response under a name. Returns its body; of a stream, its events. */
  async call<T = never>(
    step: string,
    method: string,
    path: string,
    { body, headers = {} }: Call = {},
  ): Promise<T> {
    const response = await this.#fetch(method, path, body, headers);
    const got = bodyOf(response, await response.text());
    this.#record(step, response, got);
    return got as T;
  }

  /** Opens a stream that does not end by itself, and reads it without recording it until `isWanted` returns false. */
  async read(
    method: string,
    path: string,
    { body, headers = {} }: Call,
    isWanted: (event: SseEvent) => boolean,
  ): Promise<void> {
    const response = await this.#fetch(method, path, body, { accept: 'text/event-stream', ...headers });
    for await (const event of eventsIn(response)) if (!isWanted(event)) return;
    throw new Error(`${path} has ended with status ${response.status} before its last event`);
  }

  /** Opens a stream and calls `take` with each event as it arrives. Records all of them at the end. */
  async follow(
    step: string,
    method: string,
    path: string,
    { body, headers = {} }: Call,
    take: (event: SseEvent) => unknown,
  ): Promise<void> {
    const response = await this.#fetch(method, path, body, headers);
    const events: SseEvent[] = [];
    for await (const event of eventsIn(response)) {
      events.push(event);
      await take(event);
    }
    this.#record(step, response, streamOf(events));
  }

  /** Records a value that a scenario has put together from responses. */
  note(step: string, value: unknown): void {
    this.#add(step, value as Json);
  }

  #fetch(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Response> {
    return fetch(this.#url + path, {
      method,
      headers: {
        // A server may close an idle connection at the moment when a request is sent.
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  #record(step: string, { status, headers }: Response, body: Json): void {
    const seen = readHeaders.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value.toLowerCase().replace('; charset=', ';charset=')] as const];
    });
    this.#add(step, {
      status,
      headers: Object.fromEntries(seen),
      ...(status < 400 ? { body } : { problem: body, error: errorOf(body) }),
    });
  }

  #add(step: string, value: Json): void {
    if (this.#recorded.has(step)) throw new Error(`Two responses are recorded as "${step}".`);
    this.#recorded.set(step, value);
  }
}

export interface SseEvent {
  event: string;
  data: Json;
  id?: string;
}

const bodyOf = ({ headers }: Response, text: string): Json =>
  headers.get('content-type')?.startsWith('text/event-stream')
    ? streamOf(eventsOf(text))
    : text.trim() === ''
      ? null
      : parse(text.trim());

/** The text of an error, where clients look for it. */
const errorOf = (body: Json): Json => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return body['message'] ?? body['detail'] ?? body;
};

const parse = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};

/** Ids that count the events from 0 are said once, so that an additional event does not change those of all later events. */
const streamOf = (events: SseEvent[]): Json => {
  const ids = events.map(({ id }) => id);
  const offset = Number(ids[0]);
  return {
    ids: ids.every((id) => id === undefined)
      ? 'none'
      : ids.every((id, at) => id === String(offset + at))
        ? `counted from ${offset}`
        : (ids as Json),
    events: events.map(({ event, data }) => ({ event, data })),
  };
};

/** The events of a stream, as they arrive. */
async function* eventsIn({ body }: Response): AsyncGenerator<SseEvent> {
  let text = '';
  for await (const part of body!.pipeThrough(new TextDecoderStream())) {
    text = (text + part).replaceAll('\r\n', '\n');
    const end = text.lastIndexOf('\n\n') + 2;
    if (end === 1) continue;
    yield* eventsOf(text.slice(0, end));
    text = text.slice(end);
  }
}

const eventsOf = (text: string): SseEvent[] =>
  text
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .flatMap((frame) => {
      const fields = new Map<string, string>();
      for (const line of frame.split('\n')) {
        const at = line.indexOf(':');
        if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''));
      }
      if (fields.size === 0) return [];
      const id = fields.get('id');
      return [
        {
          event: fields.get('event') ?? '',
          data: parse(fields.get('data') ?? ''),
          ...(id === undefined ? {} : { id }),
        },
      ];
    });
