// The open event streams of a server. When the server stops before they have ended, each gets a last event that says how to continue.
import { settledWithin } from '../../backoff.ts';

/** How long a client may take to receive the last event. */
const lastEventMs = 1_000;

interface OpenStream {
  /** Sends the last event, and then closes the connection. */
  interrupt(): Promise<void>;
}

export class OpenStreams {
  readonly #streams = new Set<OpenStream>();

  add(stream: OpenStream): void {
    this.#streams.add(stream);
  }

  delete(stream: OpenStream): void {
    this.#streams.delete(stream);
  }

  /** Resolves when all clients have received the last event, or after a second. */
  interrupt(): Promise<void> {
    return settledWithin(Promise.all([...this.#streams].map((stream) => stream.interrupt())), lastEventMs);
  }
}
