// What stands between the contract and a service: one function per route. Handlers know no HTTP; they get
// parsed input, return plain values, and throw Problems.
import type { Authorizer } from '../auth/authorization/authorizer.ts';
import type { Caller } from '../auth/principal/caller.ts';
import type { JsonPart } from '../parsing/json-bytes.ts';
import type { RouteInput, RouteOutput, Routes, RouteShape } from '@svc/contract';

/** Who calls, and for how long they wait. */
export interface Call {
  requestId: string;
  /** The address by which the client reached the server, such as `https://agents.example.com`. */
  origin: string;
  caller: Caller;
  /** Checks what the caller may do, before anything is done. */
  authorizer: Authorizer;
  /** Fires when the client has gone. */
  signal: AbortSignal;
  /** What the request says beside its input, such as `last-event-id`; the name in lower case. */
  header(name: string): string | undefined;
}

/** What a response says beside its value. `http/` turns it into headers and a status. */
export interface ReplyFacts {
  /** Path of the object that the value describes. */
  self?: string;
  /** Path that continues the response after a lost connection. */
  continuation?: string;
  /** Number of all matches of a list. */
  total?: number;
  /** Where the next page of a list starts. */
  next?: string | number | undefined;
  /** The page ended before its limit, because more would be too large for one response. */
  isCut?: boolean;
  /** The content security policy of an HTML page that has scripts. */
  contentPolicy?: string;
  /** The value is not sent. */
  isEmpty?: boolean;
}

/** A value, and what the response says beside it. */
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
export interface EventWriter {
  /** False when the client reads too slowly; then the source should wait for `drained`. Ignored after the end. */
  send(event: StreamEvent): boolean;
  /** Resolves when there is room again, or the client has disconnected. */
  drained(): Promise<void>;
  end(): void;
  /** Ends the stream with an `error` event. */
  fail(error: unknown): void;
}

/**
 * An SSE response whose source pushes events, which costs no promise per event. `start` returns a function that stops the source; it is
 * called once, after the source has ended or failed, or the client has disconnected.
 */
export class EventStreamResponse {
  readonly start: (sink: EventWriter) => () => void;

  constructor(start: (sink: EventWriter) => () => void) {
    this.start = start;
  }
}

/** What a route of kind `sse` returns. */
export type SseBody = AsyncIterable<StreamEvent> | EventStreamResponse;

/** What a route of kind `late` returns: JSON text that comes when it comes. A class, because a bare promise would be awaited. */
export class DeferredResponse {
  readonly text: Promise<string>;

  constructor(text: Promise<string>) {
    this.text = text;
  }
}

/** A JSON response that is text already, as it came from storage. Its parts are sent one after the other. */
export class RawJson {
  readonly parts: readonly JsonPart[];

  constructor(...parts: JsonPart[]) {
    this.parts = parts;
  }

  /** A list of texts, between what comes before and after it. */
  static list(rows: readonly JsonPart[], before = '[', after = ']'): RawJson {
    const parts: JsonPart[] = [before];
    for (const [at, row] of rows.entries()) parts.push(...(at === 0 ? [row] : [',', row]));
    return new RawJson(...parts, after);
  }
}

/** A response of another content type than JSON, where the client may choose. */
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
  : R['kind'] extends 'late'
    ? DeferredResponse
    : R['kind'] extends 'html' | 'text'
      ? string
      : RouteOutput<R> | RawJson | RawBytes;

type Answer<R extends RouteShape> = Body<R> | Reply<Body<R>>;

export type Handler<R extends RouteShape> = (
  input: RouteInput<R>,
  call: Call,
) => Promise<Answer<R>> | Answer<R>;

export type Handlers<T extends Routes> = { [K in keyof T]: Handler<T[K]> };
