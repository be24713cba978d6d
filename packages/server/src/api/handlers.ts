// What stands between the contract and a service: one function per route. Handlers know no HTTP; they get
// parsed input, return plain values, and throw Problems.
import type { Access } from '../auth/authorization/authorizer.ts';
import type { Caller } from '../auth/principal/caller.ts';
import type { JsonPart } from '../parsing/json-bytes.ts';
import type { RouteInput, RouteOutput, Routes, RouteShape } from '@svc/contract';

/** Who calls, and for how long they wait. */
export interface Call {
  requestId: string;
  /** The address by which the client reached the server, such as `https://agents.example.com`. */
  origin: string;
  caller: Caller;
  /** What the caller may do: asked before anything is done. */
  access: Access;
  /** Fires when the client has gone. */
  signal: AbortSignal;
  /** What the request says beside its input, such as `last-event-id`; the name in lower case. */
  header(name: string): string | undefined;
}

/** A value with response headers of its own. */
export class Reply<T> {
  readonly value: T;
  readonly headers: Record<string, string>;
  /** Replaces the route's own success status, as for `Prefer: return=minimal`. */
  readonly status: number | undefined;

  constructor(value: T, headers: Record<string, string> = {}, status?: number) {
    this.value = value;
    this.headers = headers;
    this.status = status;
  }
}

/** One server-sent event; `data` is JSON text already. */
export interface StreamEvent {
  id?: string;
  event: string;
  data: string;
}

/** Where a feed puts its events. */
export interface EventSink {
  /** False when the client reads slower than this: who can wait, waits for `drained`. Ignored once closed. */
  send(event: StreamEvent): boolean;
  /** Settles when there is room again, or nobody reads any more. */
  drained(): Promise<void>;
  end(): void;
  /** Ends the stream with an `error` event. */
  fail(error: unknown): void;
}

/**
 * A stream whose source calls us, which costs no promise per event. `start` returns what stops the source;
 * it is called once, whether the source ended, failed, or the client left.
 */
export class EventFeed {
  readonly start: (sink: EventSink) => () => void;

  constructor(start: (sink: EventSink) => () => void) {
    this.start = start;
  }
}

/** What a route of kind `sse` returns. */
export type SseBody = AsyncIterable<StreamEvent> | EventFeed;

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
