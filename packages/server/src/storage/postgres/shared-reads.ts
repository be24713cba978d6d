// One connection for the short reads of all callers, in the driver's pipeline mode: a read is sent while those before it are still
// executed, and the reads of one turn of the event loop are sent by one system call. A read that finds the connection absent, full,
// or waiting for an answer for long, goes to the pool. The reason: waking a process of PostgreSQL costs more than a short read.
import { setImmediate } from 'node:timers';
import type pg from 'pg';
import type { ConnectionSetup } from './connection-options.ts';
import { checkKind } from './host-selector.ts';
import { connectAny } from './listener.ts';
import { policyOf, toProblem } from './sql-state.ts';

/** A read that is unanswered for this time after it was sent is not followed by others. */
const patienceMs = 10;
/** Unanswered reads: their answers are in memory together. */
const sentMax = 32;
/** Pause after a connection that could not be opened. */
const reopenMs = 1_000;

/** The reads of one turn of the event loop. */
interface Turn {
  client: pg.Client;
  /** When they were sent: after the turn, however long it takes. */
  sentMs: number | undefined;
}

export class SharedReads implements AsyncDisposable {
  readonly #setup: ConnectionSetup;
  readonly #failover: Disposable;
  /** The unanswered reads, the oldest first. */
  readonly #sent = new Set<{ turn: Turn }>();
  #client: pg.Client | undefined;
  #opening: Promise<void> | undefined;
  #opensAfterMs = -Infinity;
  #failovers = 0;
  #turn: Turn | undefined;
  #isDisposed = false;

  constructor(setup: ConnectionSetup) {
    const config: pg.PoolConfig & { pipeline: boolean } = { ...setup.config, pipeline: true };
    this.#setup = { ...setup, config };
    this.#failover = setup.hosts.onFailover(() => {
      this.#failovers += 1;
      this.#drop();
    });
  }

  get isOpen(): boolean {
    return this.#client !== undefined;
  }

  /** Undefined when the read was not sent. Rejects with a Problem. */
  send<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>> | undefined {
    const client = this.#client;
    if (client === undefined) {
      this.#open();
      return undefined;
    }
    const [oldest] = this.#sent;
    if (this.#sent.size >= sentMax) return undefined;
    if (performance.now() - (oldest?.turn.sentMs ?? Infinity) > patienceMs) return undefined;
    return this.#query<Row>(client, query);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#failover[Symbol.dispose]();
    await this.#opening;
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #query<Row extends pg.QueryResultRow>(
    client: pg.Client,
    query: pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    const sent = { turn: this.#turnOf(client) };
    this.#sent.add(sent);
    try {
      return await client.query<Row>(query);
    } catch (error) {
      if (policyOf(error).connection !== 'kept') this.#lose(client);
      throw toProblem(error);
    } finally {
      this.#sent.delete(sent);
    }
  }

  /** Collects what is sent in this turn of the event loop. */
  #turnOf(client: pg.Client): Turn {
    if (this.#turn?.client === client) return this.#turn;
    const turn: Turn = { client, sentMs: undefined };
    this.#turn = turn;
    // The driver's types do not expose the socket.
    const { stream } = (client as unknown as { connection: pg.Connection }).connection;
    stream.cork();
    setImmediate(() => {
      if (this.#turn === turn) this.#turn = undefined;
      stream.uncork();
      turn.sentMs = performance.now();
    });
    return turn;
  }

  #open(): void {
    if (this.#isDisposed || this.#opening !== undefined || performance.now() < this.#opensAfterMs) return;
    this.#opening = this.#connect()
      .then(
        (client) => {
          this.#client = client;
          client.on('error', () => this.#lose(client));
          client.on('end', () => this.#lose(client));
        },
        // The pool serves the reads, or reports that the database is unavailable.
        () => void (this.#opensAfterMs = performance.now() + reopenMs),
      )
      .finally(() => (this.#opening = undefined));
  }

  /**
   * Connects to a server that takes writes. After a failover, a name may still lead to the former primary: writes of the pool are
   * refused there, but this connection would read its rows for ever.
   */
  async #connect(): Promise<pg.Client> {
    const failovers = this.#failovers;
    const client = await connectAny(this.#setup);
    try {
      await checkKind(client, { connectionString: undefined, wanted: 'read-write' });
      if (failovers !== this.#failovers) throw new Error('The server became read-only meanwhile');
      return client;
    } catch (error) {
      void client.end();
      throw error;
    }
  }

  #lose(client: pg.Client): void {
    if (this.#client === client) this.#drop();
  }

  /** Closes the connection when everything that was sent is answered. The next read opens another one. */
  #drop(): void {
    void this.#client?.end();
    this.#client = undefined;
  }
}
