import type { CreatedRun } from '../../api/call.ts';

/** Hexadecimal ids of W3C Trace Context. */
export interface SpanIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** The span of a request, as the HTTP side reports it. Another part of the server decides what is recorded. */
export interface RequestSpan {
  /** For the line of the request in the log. Undefined for a span that is not sent. */
  readonly ids: SpanIds | undefined;
  created(run: CreatedRun): void;
  /** Called once, when the response is complete. `route`: the pattern, or `*`. */
  end(answer: { route: string; status: number }): void;
}

/** `header`: returns a header of the request. */
export type StartRequestSpan = (
  method: string,
  header: (name: string) => string | undefined,
) => RequestSpan | undefined;
