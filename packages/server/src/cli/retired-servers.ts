// Servers that `svc dev` has replaced and that still have open responses.
import { settledWithin } from '../backoff.ts';
import type { RunningServer } from '../app/server.ts';
import type { Logger } from '../telemetry/logger.ts';

export class RetiredServers implements AsyncDisposable {
  readonly #stopping: AbortSignal;
  readonly #logger: Logger;
  readonly #closing = new Set<Promise<void>>();

  /** Closes all servers when `stopping` is aborted. */
  constructor(stopping: AbortSignal, logger: Logger) {
    this.#stopping = stopping;
    this.#logger = logger;
  }

  /**
   * Resolves when the server has handed its runs over, or is closed. The server is closed when its responses have ended, and after
   * `graceMs` at the latest.
   */
  async add(server: RunningServer, graceMs: number): Promise<void> {
    const handedOver = server.handOver();
    const closing = this.#close(server, handedOver, graceMs).catch((err: unknown) =>
      this.#logger.error({ err }, 'a replaced server could not be closed'),
    );
    this.#closing.add(closing);
    void closing.then(() => this.#closing.delete(closing));
    await Promise.race([handedOver, closing]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#closing);
  }

  async #close(
    server: RunningServer,
    handedOver: ReturnType<RunningServer['handOver']>,
    graceMs: number,
  ): Promise<void> {
    await using _closed = server;
    const responsesEnded = handedOver.then((rest) => rest.responsesEnded);
    await settledWithin(responsesEnded, graceMs, this.#stopping);
  }
}
