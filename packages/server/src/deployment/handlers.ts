// What stands between the contract and a service: one function per route. Handlers know no HTTP; they get
// parsed input, return plain values, and throw Problems.
import type { RouteInput, RouteOutput, Routes, RouteShape } from '@svc/contract';

/** Who calls, and for how long they wait. */
export interface Call {
  requestId: string;
  /** Fires when the client has gone. */
  signal: AbortSignal;
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

/** What a route of kind `sse` returns, and what one of kind `late` returns: JSON text that comes when it comes. */
export type SseBody = AsyncIterable<StreamEvent>;
export type LateBody = Promise<string>;

type Body<R extends RouteShape> = R['kind'] extends 'sse'
  ? SseBody
  : R['kind'] extends 'late'
    ? LateBody
    : RouteOutput<R>;

export type Handler<R extends RouteShape> = (
  input: RouteInput<R>,
  call: Call,
) => Promise<Body<R> | Reply<Body<R>>> | Reply<Body<R>>;

export type Handlers<T extends Routes> = { [K in keyof T]: Handler<T[K]> };
