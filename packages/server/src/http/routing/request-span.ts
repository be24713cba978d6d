import type { CreatedRun } from '../../api/call.ts';

/** The span of a request, as the HTTP side reports it. Another part of the server decides what is recorded. */
export interface RequestSpan {
  created(run: CreatedRun): void;
  /** Called once, when the response is complete. `route`: the pattern, or `*`. */
  end(answer: { route: string; status: number }): void;
}

/** `header`: returns a header of the request. */
export type StartRequestSpan = (
  method: string,
  header: (name: string) => string | undefined,
) => RequestSpan | undefined;
