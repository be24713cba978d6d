// Queries and transactions on a pool of connections. Statements are prepared by name, except behind a pooler. A connection that timed out or broke is
// destroyed, because its state is unknown.
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import {
  type ConnectionSetup,
  connectionSetup,
  type DatabaseOptions,
  directSetup,
  poolSizes,
} from './connection-options.ts';
import type { OnRow } from './copy-out.ts';
import {
  type PooledConnection,
  copyRows,
  ConnectionPool,
  type Outage,
  reconnectMs,
  runQuery,
} from './connection-pool.ts';
import { connectAny, openListener } from './listener.ts';
import { SharedReads } from './shared-reads.ts';
import { checkPooledSession, checkSession, isPoolerRefusal, poolerRefusal } from './session-check.ts';
import { policyOf, originalError } from './sql-state.ts';

export type { DatabaseOptions } from './connection-options.ts';

export interface Statement {
  /** Name of the prepared statement; empty for a statement that is rarely repeated. */
  name: string;
  text: string;
  /** The statement only reads, so it is sent again when the connection breaks. */
  reads?: boolean;
  /** The statement reads a few short rows by their keys. Such reads of all callers share one connection (shared-reads.ts). */
  isShort?: boolean;
  /** Time limit, for results that are useless later. */
  timeoutMs?: number;
  /** Called each time the statement is sent, after the wait for a connection. */
  onSend?: () => void;
}

export interface Database extends AsyncDisposable {
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Passes on the rows of `copy … to stdout (format binary)`, which takes no parameters, as they arrive. An abort closes the connection. */
  copyOut(text: string, onRow: OnRow, signal?: AbortSignal): Promise<void>;
  /** Executes several statements without parameters, such as a migration, without a time limit. */
  script(text: string): Promise<void>;
  /** Runs `work` in one transaction on one connection. Repeated after a serialization failure or a deadlock. */
  transact<T>(work: (tx: Database) => Promise<T>): Promise<T>;
  /** Numbers of connections, and of callers that wait for one. */
  poolState(): { pool_total: number; pool_idle: number; pool_waiting: number };
  /** Set while no connection can be opened. */
  outage(): Outage | undefined;
  /** Listens on a channel, on a connection of its own that reconnects by itself. */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<AsyncDisposable>;
}

export interface PooledDatabase extends Database {
  /** Allows `poolMax` connections, and not fewer than before. */
  resize(poolMax: number): void;
}

/** The driver's time limit cannot be switched off, so it is set to a day. */
const scriptMs = 24 * 60 * 60 * 1_000;
const conflictAttempts = 3;
/** After a failover, how long a statement that a read-only server refused is repeated, until a connection reaches the new primary. */
const failoverMs = { max: 2_000, pause: 100 };

/** Opens one connection to check that the database is usable. Throws `unavailable` with advice. */
export const openDatabase = async (options: DatabaseOptions): Promise<PooledDatabase> => {
  const setup = connectionSetup(options);
  const pool = new ConnectionPool(setup);
  try {
    await pool.withConnection(
      ({ client }) =>
        setup.isPooled ? checkPooledSession(client) : checkSession(client, () => connectAny(setup)),
      false,
    );
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw explain(error, setup);
  }
  return poolDatabase(pool, setup, options);
};

const explain = (error: unknown, { isPooled }: ConnectionSetup): Problem => {
  const cause = originalError(error);
  if (cause instanceof Problem) return cause;
  if (isPoolerRefusal(cause)) return poolerRefusal(cause, { isPooled, variable: 'SVC_DATABASE_URI' });
  return new Problem('unavailable', `The database cannot be reached: ${(cause as Error).message}`, { cause });
};

const poolDatabase = (
  pool: ConnectionPool,
  setup: ConnectionSetup,
  options: DatabaseOptions,
): PooledDatabase => {
  const listening = listeningSetup(setup, options);
  const { isPooled } = setup;
  let shared = setup.sizes.sharesReads ? new SharedReads(setup) : undefined;
  return {
    ...queries(
      <Row extends pg.QueryResultRow>(query: pg.QueryConfig, { reads, isShort, onSend }: Handling) =>
        withRetries(
          () =>
            (isShort === true ? shared?.send<Row>(query) : undefined) ??
            pool.withConnection((connection) => {
              onSend?.();
              return runQuery<Row>(connection, query);
            }),
          reads,
        ),
      { isPooled },
    ),
    transact: (work) =>
      withRetries(() => pool.withConnection((connection) => inTransaction(connection, work, { isPooled }))),
    copyOut: (text, onRow, signal) =>
      pool.withConnection((connection) => copyRows(connection, text, onRow, signal)),
    poolState: () => {
      const { pool_total, ...state } = pool.state;
      return { pool_total: pool_total + (shared?.isOpen === true ? 1 : 0), ...state };
    },
    outage: () => pool.outage,
    listen: (channel, onNotify, onReconnect) =>
      openListener({ setup: listening, channel, onNotify, onReconnect }),
    resize(poolMax) {
      const { max, sharesReads } = poolSizes({ ...options, poolMax });
      pool.resize(max);
      if (sharesReads) shared ??= new SharedReads(setup);
    },
    async [Symbol.asyncDispose]() {
      await shared?.[Symbol.asyncDispose]();
      await pool[Symbol.asyncDispose]();
    },
  };
};

/** For LISTEN. A direct connection looks for the primary again when the pool has found a read-only server. */
const listeningSetup = (setup: ConnectionSetup, options: DatabaseOptions): ConnectionSetup => {
  if (!setup.isPooled) return setup;
  const direct = directSetup(options);
  setup.hosts.onFailover(() => direct.hosts.reportFailover());
  return direct;
};

type Handling = Pick<Statement, 'reads' | 'isShort' | 'onSend'>;

type Execute = <Row extends pg.QueryResultRow>(
  query: pg.QueryConfig,
  handling: Handling,
) => Promise<pg.QueryResult<Row>>;

/** A pooler gives the next transaction another session, which does not have the prepared statement. */
const queries = (
  execute: Execute,
  { isPooled }: Pick<ConnectionSetup, 'isPooled'>,
): Pick<Database, 'query' | 'script'> => ({
  async query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { text, timeoutMs } = statement;
    const name = isPooled ? '' : statement.name;
    const bound = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
    const query = { name, text, values: values as unknown[], ...bound };
    const { rows } = await execute(query, statement);
    return rows as Row[];
  },
  async script(text) {
    const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: scriptMs };
    await execute(query, {});
  },
});

/**
 * Executes a statement or transaction, and repeats it when the error shows that nothing happened, or when it only reads.
 */
const withRetries = async <T>(work: () => Promise<T>, reads = false): Promise<T> => {
  const startMs = performance.now();
  for (let attempts = 1; ; attempts++) {
    try {
      return await work();
    } catch (error) {
      const pauseMs = pauseBefore(error, { attempts, reads, afterMs: performance.now() - startMs });
      if (pauseMs === undefined) throw error;
      await sleep(pauseMs);
    }
  }
};

/** The pause before the next attempt; undefined when the statement must not be repeated. */
const pauseBefore = (
  error: unknown,
  { attempts, reads, afterMs }: { attempts: number; reads: boolean; afterMs: number },
): number | undefined => {
  // An error that `work` itself threw is not an error of the database.
  const isOfDatabase = !(error instanceof Problem) || error.code === 'unavailable';
  const origin = originalError(error);
  if (!isOfDatabase || origin instanceof Problem) return undefined;
  switch (policyOf(origin).retry) {
    case 'conflict':
      return attempts < conflictAttempts ? 5 * attempts : undefined;
    case 'failover':
      return afterMs < failoverMs.max ? failoverMs.pause : undefined;
    case 'reads':
      return reads && afterMs < reconnectMs.max ? 5 * attempts : undefined;
    case 'never':
      return undefined;
  }
};

const inTransaction = async <T>(
  connection: PooledConnection,
  work: (tx: Database) => Promise<T>,
  setup: Pick<ConnectionSetup, 'isPooled'>,
): Promise<T> => {
  let isOpen = true;
  const execute: Execute = (query, { onSend }) => {
    if (!isOpen) throw new Error('The transaction has ended');
    onSend?.();
    return runQuery(connection, query);
  };
  const tx: Database = {
    ...queries(execute, setup),
    transact: (inner) => inner(tx),
    copyOut(text, onRow, signal) {
      if (!isOpen) throw new Error('The transaction has ended');
      return copyRows(connection, text, onRow, signal);
    },
    poolState: () => ({ pool_total: 1, pool_idle: 0, pool_waiting: 0 }),
    outage: () => undefined,
    listen: () => Promise.reject(new Error('A transaction cannot listen')),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await runQuery(connection, { text: 'begin' });
  try {
    const result = await work(tx);
    const { command } = await runQuery(connection, { text: 'commit' });
    // After a failed statement PostgreSQL answers a commit with a rollback, without an error.
    if (command !== 'COMMIT')
      throw new Error('Nothing was committed: a statement failed, and the caller caught its error');
    return result;
  } catch (error) {
    // When the connection is broken, the server rolls back by itself.
    if (connection.isUsable) await runQuery(connection, { text: 'rollback' }).catch(() => undefined);
    throw error;
  } finally {
    isOpen = false;
  }
};
