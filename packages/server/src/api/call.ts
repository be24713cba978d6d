import type { Authorizer } from '../auth/authorization/authorizer.ts';
import type { Caller, Credentials } from '../auth/principal/caller.ts';

/** A run that a call has created; a stateless run has no thread. */
export interface CreatedRun {
  readonly run_id: string;
  readonly thread_id: string | undefined;
}

/** The call of a route: its caller, and how long the caller waits. */
export interface Call {
  requestId: string;
  /** The address by which the client reached the server, such as `https://agents.example.com`, with the path before all routes. */
  address: string;
  caller: Caller;
  /** What the client has sent to authenticate. */
  readonly credentials: Credentials;
  /** Checks the caller's rights, before anything is done. */
  authorizer: Authorizer;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
  /** A header of the request, such as `last-event-id`; the name in lower case. */
  header(name: string): string | undefined;
  /** All headers of the request; names in lower case. */
  headers(): Record<string, string>;
  /** Called with each run that the call creates, before the run starts here. */
  runCreated(run: CreatedRun): void;
}
