// A pool of connections. Each piece of work gets a connection of its own; connections that cannot be used again are closed.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { onAbort } from '../../abort.ts';
import type { ConnectionSetup } from './connection-options.ts';
import { CopyOut, type OnRow } from './copy-out.ts';
import type { HostSelector } from './host-selector.ts';
import { policyOf, toProblem } from './sql-state.ts';

export interface PooledConnection {
  client: pg.PoolClient;
  /** False: it is closed instead of being returned to the pool. */
  isUsable: boolean;
  /** The server turned out to be of the wrong kind, so the whole pool reconnects. */
  isWrongServer: boolean;
}

/** A time in which no connection can be opened. */
export interface Outage {
  /** Monotonic milliseconds. */
  sinceMs: number;
  error: unknown;
}

/** How long a caller waits for a database that restarts, and the pause between attempts. */
export const reconnectMs = { max: 10_000, pause: 50 };

export class ConnectionPool implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #hosts: HostSelector;
  readonly #inUse = new Set<Promise<unknown>>();
  /** The generation in which each connection was opened. Connections of older generations are closed. */
  readonly #generations = new WeakMap<pg.PoolClient, number>();
  #generation = 0;
  #outage: Outage | undefined;

  constructor({ config, Client, hosts }: ConnectionSetup) {
    this.#pool = new pg.Pool({ ...config, Client });
    this.#hosts = hosts;
    // An idle connection that breaks is replaced on demand; without a listener it would end the process.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => this.#generations.set(client, this.#generation));
  }

  get state() {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { pool_total: totalCount, pool_idle: idleCount, pool_waiting: waitingCount };
  }

  /** Allows `max` connections. */
  resize(max: number): void {
    this.#pool.options.max = max;
  }

  get outage(): Outage | undefined {
    return this.#outage;
  }

  /** `isPatient`: waits for a database that is down. */
  async withConnection<T>(work: (connection: PooledConnection) => Promise<T>, isPatient = true): Promise<T> {
    const promise = this.#withClient(work, isPatient);
    this.#inUse.add(promise);
    try {
      return await promise;
    } finally {
      this.#inUse.delete(promise);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#pool.ending) return;
    // pool.end() never settles requests that still wait for a connection.
    while (this.#inUse.size > 0) await Promise.allSettled(this.#inUse);
    await this.#pool.end();
  }

  async #withClient<T>(work: (connection: PooledConnection) => Promise<T>, isPatient: boolean): Promise<T> {
    const client = await this.#connect(isPatient);
    const connection: PooledConnection = { client, isUsable: true, isWrongServer: false };
    // The connection may break between two statements, when no query gets the error.
    const onError = (): void => void (connection.isUsable = false);
    client.on('error', onError);
    try {
      return await work(connection);
    } finally {
      client.off('error', onError);
      if (connection.isWrongServer && this.#isNewest(client)) {
        this.#generation += 1;
        this.#hosts.reportFailover();
      }
      client.release(!connection.isUsable);
    }
  }

  #isNewest(client: pg.PoolClient): boolean {
    return this.#generations.get(client) === this.#generation;
  }

  /** Retrying is safe, since nothing was sent yet. Tries all hosts before each pause, and before it fails. */
  async #connect(isPatient: boolean): Promise<pg.PoolClient> {
    const untilMs = performance.now() + (isPatient ? reconnectMs.max : 0);
    for (let attempts = 1; ;) {
      try {
        const client = await this.#pool.connect();
        this.#outage = undefined;
        if (this.#isNewest(client)) return client;
        client.release(true);
      } catch (error) {
        this.#outage = { sinceMs: this.#outage?.sinceMs ?? performance.now(), error };
        const isRoundOver = attempts++ % this.#hosts.length === 0;
        if (this.#pool.ending || (isRoundOver && performance.now() > untilMs)) throw toProblem(error);
        if (isRoundOver) await sleep(reconnectMs.pause);
      }
    }
  }
}

const updateState = (connection: PooledConnection, error: unknown): void => {
  const { connection: effect } = policyOf(error);
  if (effect !== 'kept') connection.isUsable = false;
  if (effect === 'all dropped') connection.isWrongServer = true;
};

export const runQuery = async <Row extends pg.QueryResultRow>(
  connection: PooledConnection,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> => {
  try {
    return await connection.client.query<Row>(query);
  } catch (error) {
    updateState(connection, error);
    throw toProblem(error);
  }
};

export const copyRows = async (
  connection: PooledConnection,
  text: string,
  onRow: OnRow,
  signal?: AbortSignal,
): Promise<void> => {
  signal?.throwIfAborted();
  const query = new CopyOut(text, onRow);
  const stopWaiting = signal && onAbort(signal, () => streamOf(connection.client).destroy());
  try {
    connection.client.query(query);
    await query.done;
  } catch (error) {
    updateState(connection, error);
    signal?.throwIfAborted();
    throw toProblem(error);
  } finally {
    stopWaiting?.();
  }
};

/** The driver's types do not expose the socket. */
const streamOf = (client: pg.PoolClient): { destroy(): void } =>
  (client as unknown as { connection: pg.Connection }).connection.stream;
