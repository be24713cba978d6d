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
import { copyRows, ConnectionPool, reconnectMs, runQuery } from './connection-pool.ts';
import { connectAny, openListener } from './listener.ts';
import { SharedReads } from './shared-reads.ts';
import { checkPooledSession, checkSession, isPoolerRefusal, poolerRefusal } from './session-check.ts';
import { policyOf, originalError } from './sql-state.ts';
import { type Database, type Handling, inTransaction, queries } from './transaction.ts';

export type { DatabaseOptions } from './connection-options.ts';
export type { Database, Transactions } from './transaction.ts';

export interface PooledDatabase extends Database {
  /** Allows `poolMax` connections, and not fewer than before. */
  resize(poolMax: number): void;
}

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
