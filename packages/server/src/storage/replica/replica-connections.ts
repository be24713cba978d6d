// Connections to the replica. Every transaction is read-only, and begins with the position of the replica. Nothing waits for a replica that
// is down, and nothing is repeated: the caller reads from the primary instead.
import type pg from 'pg';
import { onAbort, unlessAborted } from '../../abort.ts';
import { connectionSetup, type DatabaseOptions } from '../postgres/connection-options.ts';
import { ConnectionPool, type PooledConnection, runQuery } from '../postgres/connection-pool.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { ReplicaUnusable } from './fallback.ts';
import {
  positionMs,
  type StandbyPosition,
  type StandbyRow,
  standbyText,
  toStandbyPosition,
} from './wal-position.ts';

/** Of a connection, and of the wait for a free one; a `connect_timeout` of the URI has priority. */
const connectMs = 2_000;

/** Throws ReplicaUnusable when the transaction must not be executed on a replica at this position. */
export type CheckPosition = (position: StandbyPosition) => void;

/** The driver returns one result for each statement of a text. */
const readPosition = async (connection: PooledConnection, before = ''): Promise<StandbyPosition> => {
  const query: pg.QueryConfig & { query_timeout: number } = {
    text: `${before}${standbyText}`,
    query_timeout: positionMs,
  };
  const results = [await runQuery<StandbyRow>(connection, query)].flat();
  const row = results.at(-1)?.rows[0];
  if (row === undefined) throw new Error('The statement returned no row');
  return toStandbyPosition(row);
};

/** Options of the replica of a URI, which leads to a standby unless it says otherwise by `target_session_attrs`. */
export const replicaOptions = (connectionString: string, poolMax: number): DatabaseOptions => ({
  connection: { connectionString },
  wanted: 'standby',
  connectMs,
  poolMax,
});

export class ReplicaConnections implements AsyncDisposable {
  readonly #pool: ConnectionPool;
  readonly #max: number;

  constructor(options: DatabaseOptions) {
    const setup = connectionSetup(options);
    this.#pool = new ConnectionPool(setup);
    this.#max = setup.sizes.max;
  }

  /** The position of the replica now. */
  position(): Promise<StandbyPosition> {
    return this.#pool.withConnection((connection) => readPosition(connection), false);
  }

  /**
   * Runs `work` in one read-only transaction after `check` has accepted the position of the replica. An abort closes the connection.
   *
   * The isolation level is READ COMMITTED on purpose. The position is read before the first snapshot of `work` is taken, so the
   * snapshot has everything up to that position. Under REPEATABLE READ the snapshot would be older than the position.
   */
  async transact<T>(
    check: CheckPosition,
    work: (tx: Database) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    let isConnected = false;
    const execute = async (connection: PooledConnection): Promise<T> => {
      signal?.throwIfAborted();
      isConnected = true;
      const stop = signal && onAbort(signal, () => close(connection));
      try {
        return await inTransaction(connection, work, { isPooled: false, begin: begin(check) });
      } finally {
        stop?.();
      }
    };
    const connecting = new AbortController();
    const stop = signal && onAbort(signal, () => !isConnected && connecting.abort(signal.reason));
    try {
      // Once it is connected, an abort ends the work by an error of the connection, so nothing continues after this has rejected.
      return await unlessAborted(this.#pool.withConnection(execute, false), connecting.signal);
    } catch (error) {
      if (!isConnected && this.#isBusy && signal?.aborted !== true)
        throw new ReplicaUnusable('busy', 'All connections to the replica are in use');
      throw error;
    } finally {
      stop?.();
    }
  }

  get #isBusy(): boolean {
    const { pool_total, pool_idle } = this.#pool.state;
    return pool_total >= this.#max && pool_idle === 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }
}

const begin =
  (check: CheckPosition) =>
  async (connection: PooledConnection): Promise<void> =>
    check(await readPosition(connection, 'begin isolation level read committed read only; '));

/** The driver's types do not expose the socket. */
const close = (connection: PooledConnection): void => {
  connection.isUsable = false;
  (connection.client as unknown as { connection: pg.Connection }).connection.stream.destroy();
};
