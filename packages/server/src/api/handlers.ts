// Handlers connect the contract to the services: one function for each route. They do not know HTTP: they get parsed input, return
// plain values, and throw Problems.
import type { JsonPart } from '../parsing/json-bytes.ts';
import type { Call } from './call.ts';
import type { SocketResponse } from './sockets.ts';
import type { RouteInput, RouteOutput, Routes, RouteShape } from '@svc/contract';

export type { Call } from './call.ts';

export interface ReplyCookie {
  name: string;
  /** Of characters that need no quotes. */
  value: string;
  /** 0 deletes the cookie. */
  maxAgeSeconds: number;
  /** True for a client that uses TLS. */
  isSecure: boolean;
  /** Browsers send the cookie also when a page of another site leads to this server; otherwise to this server's own pages only. */
  isSentFromOtherSites?: boolean;
}

/** Facts about a response in addition to its value. `http/` converts them to headers and a status. */
export interface ReplyFacts {
  /** Path of the object that the value describes. */
  self?: string;
  /** Path that continues the response after a lost connection. */
  continuation?: string;
  /** Number of all matches of a list. */
  total?: number;
  /** Offset or cursor of the next page of a list. */
  next?: string | number | undefined;
  /** Cursor of the next page of a list that also has offsets. */
  cursor?: string | undefined;
  /** Why the page ended before its limit: the response would have become too large, or too many rows were examined. */
  limitedBy?: 'bytes' | 'rows' | undefined;
  /** Browsers store the response as a file. A client has sent it, so it must not execute as a page of this server. */
  isDownload?: boolean;
  /** How long caches may keep the response; they may not by default. */
  cacheControl?: string;
  /** Id of a new session of the Model Context Protocol. */
  session?: string;
  /** A cookie to set, which scripts cannot read. */
  cookie?: ReplyCookie;
  /** The response has no body. */
  isEmpty?: boolean;
}

/** A value with facts about its response. */
export class Reply<T> {
  readonly value: T;
  readonly facts: ReplyFacts;

  constructor(value: T, facts: ReplyFacts) {
    this.value = value;
    this.facts = facts;
  }
}

/** One server-sent event; `data` is JSON text already. */
export interface StreamEvent {
  id?: string;
  event: string;
  data: string;
}

/** Receives the events of a stream. */
export interface EventSink {
  /** False when the client reads too slowly: the source should then wait for `drained`. Does nothing after the end. */
  send(event: StreamEvent): boolean;
  /** Resolves when the buffer has room again, or the client has disconnected. */
  drained(): Promise<void>;
}

export interface EventWriter extends EventSink {
  end(): void;
  /** Ends the stream with an `error` event. */
  fail(error: unknown): void;
}

/**
 * How a client continues a stream that the server has interrupted: with the id of its last event, or with the number of its last event in
 * the body of the request. `none`: the protocol of the stream has no event that could say so.
 */
export type Resumption = 'Last-Event-ID' | 'since' | 'none';

/**
 * Sends the events of a stream. Resolves at the end of the stream, or when `stop` is aborted because the client has disconnected. A rejection
 * ends the stream with an `error` event; an outage of the database interrupts it, if the client can continue it.
 */
export type EventSource = (sink: EventSink, stop: AbortSignal) => Promise<void>;

/** An SSE response. Its source pushes events, so an event costs no promise. */
export class EventStreamResponse {
  readonly resumption: Resumption;
  readonly #source: EventSource;

  constructor(source: EventSource, resumption: Resumption = 'Last-Event-ID') {
    this.#source = source;
    this.resumption = resumption;
  }

  /** Returns a function that stops the source. */
  start(writer: EventWriter): () => void {
    const stop = new AbortController();
    this.#source(writer, stop.signal).then(
      () => writer.end(),
      (error: unknown) => writer.fail(error),
    );
    return () => stop.abort();
  }
}

/** What a route of kind `sse` returns. */
export type SseBody = AsyncIterable<StreamEvent> | EventStreamResponse;

/** What a route of kind `deferred` returns: JSON text that is available later. A class, because a plain promise would be awaited. */
export class DeferredResponse {
  readonly text: Promise<string>;

  constructor(text: Promise<string>) {
    this.text = text;
  }
}

/** A JSON response as text from storage. Its parts are sent one after the other. */
export class RawJson {
  readonly parts: readonly JsonPart[];

  constructor(...parts: JsonPart[]) {
    this.parts = parts;
  }

  /** A list of texts, with the texts before and after it. */
  static list(rows: readonly JsonPart[], before = '[', after = ']'): RawJson {
    const parts: JsonPart[] = [before];
    for (const [at, row] of rows.entries()) parts.push(...(at === 0 ? [row] : [',', row]));
    return new RawJson(...parts, after);
  }
}

/** A response with another content type than JSON, where the client may choose. */
export class RawBytes {
  readonly content_type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(content_type: string, bytes: Uint8Array<ArrayBuffer>) {
    this.content_type = content_type;
    this.bytes = bytes;
  }
}

type Body<R extends RouteShape> = R['kind'] extends 'sse'
  ? SseBody
  : R['kind'] extends 'deferred'
    ? DeferredResponse
    : R['kind'] extends 'rpc'
      ? DeferredResponse | EventStreamResponse | undefined
      : R['kind'] extends 'html' | 'text' | 'redirect'
        ? string
        : R['kind'] extends 'file'
          ? RawBytes
          : R['kind'] extends 'socket'
            ? SocketResponse
            : RouteOutput<R> | RawJson | RawBytes;

type Answer<R extends RouteShape> = Body<R> | Reply<Body<R>>;

export type Handler<R extends RouteShape> = (
  input: RouteInput<R>,
  call: Call,
) => Promise<Answer<R>> | Answer<R>;

export type Handlers<T extends Routes> = { [K in keyof T]: Handler<T[K]> };
