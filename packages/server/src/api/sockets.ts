// Conversations over a WebSocket, without the WebSocket.
import type { Problem } from '@svc/contract/problem';
import type { Call } from './call.ts';

/** The client of a conversation. */
export interface SocketPeer {
  /** Sends a JSON text. False when the client reads too slowly: sources should then wait for `drained`. Does nothing after the end. */
  send(text: string): boolean;
  /** Resolves when the buffer has room again, or the client has disconnected. */
  drained(): Promise<void>;
  /** Authenticates the caller again, and counts a request of the caller. The call has an authorizer of its own. */
  call(): Promise<Call>;
  /** Logs an error of the server. Returns what the client may learn of an error. */
  report(error: unknown): Problem;
  /** Ends the conversation with the status of the error. */
  fail(error: unknown): void;
}

/** What answers the messages of a conversation. */
export interface SocketListener {
  /** Called for each message, in their order. Resolves when it was answered. */
  receive(value: unknown): Promise<void>;
  /** Called for a message that is no JSON text. */
  receiveFault(problem: Problem): void;
  /** Called once, when the conversation has ended. */
  stop(): void;
}

/** What a route of kind `socket` returns. */
export class SocketResponse {
  readonly accept: (peer: SocketPeer) => SocketListener;

  constructor(accept: (peer: SocketPeer) => SocketListener) {
    this.accept = accept;
  }
}
