// A pool of connections to PostgreSQL. Every statement is prepared by name; a connection that timed out or broke
// is destroyed, since what it does with its next query cannot be known.
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import type { Kysely } from 'kysely';
import pg from 'pg';
import { CopyOut, type OnRow } from './copy-out.ts';
import { poolConfig, type DatabaseOptions } from './connection-options.ts';
import { openListener } from './listener.ts';
import { createKysely, type Execute } from './preparing-driver.ts';
import type { Tables } from './tables.ts';

export type { DatabaseOptions } from './connection-options.ts';

export interface Statement {
  /** Under which it is prepared; empty for one that hardly comes again. */
  name: string;
  text: string;
  /** Changes nothing: asked again when the connection breaks. */
  reads?: boolean;
  /** For what must be known soon or not at all. */
  timeoutMs?: number;
  /** Called when a connection was had and the statement leaves; again when it is asked again. */
  onSend?: () => void;
}

export interface Database extends AsyncDisposable {
  kysely: Kysely<Tables>;
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** The rows of `copy … to stdout (format binary)`, which takes no parameters, as they arrive. When aborted the connection is given up. */
  copyOut(text: string, onRow: OnRow, signal?: AbortSignal): Promise<void>;
  /** Several statements without parameters, as a migration has them; may take as long as it needs. */
  script(text: string): Promise<void>;
  /** Runs in one transaction on one connection; tried again when the database found it to conflict with another. */
  transact<T>(work: (tx: Database) => Promise<T>): Promise<T>;
  /** Connections of the pool, and who waits for one. */
  poolState(): { pool_total: number; pool_idle: number; pool_waiting: number };
  /** Notifications of a channel, on a connection of its own that comes back by itself. */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<AsyncDisposable>;
}

const oldestVersion = 150_000;
const transactTries = 3;
const reconnectMs = { max: 10_000, pause: 50 };
const conflicts = new Set<unknown>(['40001', '40P01']);
const canceled = '57014';
/** The driver's own limit cannot be switched off, only be made long. */
const scriptMs = 24 * 60 * 60 * 1_000;

/** Connects once to see that it can be done. Throws `unavailable` with what to do about it. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const config = poolConfig(options);
  const pool = new pg.Pool(config);
  // An idle connection that breaks is replaced when the next one is needed; without this it would end the process.
  pool.on('error', () => undefined);
  // Nor may one that breaks while it is thrown away.
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    await checkVersion(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return poolDatabase(pool, config);
};

const checkVersion = async (pool: pg.Pool): Promise<void> => {
  try {
    const { rows } = await pool.query<{ version: string }>(
      `select current_setting('server_version_num') as version`,
    );
    const version = Number(rows[0]?.version);
    if (version >= oldestVersion) return;
    throw new Problem(
      'unavailable',
      `PostgreSQL 15 or newer is needed; this server is ${Math.floor(version / 10_000)}`,
    );
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('unavailable', `The database cannot be reached: ${(cause as Error).message}`, {
      cause,
    });
  }
};

/** A connection while it is lent to one piece of work. */
interface Borrowed {
  client: pg.PoolClient;
  isSound: boolean;
}

/**
 * Only an error of the statement leaves the connection as it was; of a timeout, not even that is certain. A stale plan
 * stays with its connection.
 */
const leavesSound = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  error.severity === 'ERROR' &&
  error.code !== canceled &&
  !isStalePlan(error);

const translate = (error: unknown): unknown => {
  // A value that the driver cannot send, or that does not fit what it is read into: a mistake of ours.
  if (error instanceof RangeError || error instanceof TypeError) return error;
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  // Data that a column cannot take; what comes here should have been refused before.
  if (code.startsWith('22'))
    return new Problem('invalid', 'The request holds a value that cannot be stored', { cause: error });
  if (code === canceled || code === '55P03')
    return new Problem('unavailable', 'The database took too long', { cause: error });
  return (leavesSound(error) && code !== '53300') || isConflict(error)
    ? error
    : new Problem('unavailable', 'The database cannot be reached at the moment', { cause: error });
};

const run = async <Row extends pg.QueryResultRow>(
  borrowed: Borrowed,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> => {
  try {
    return await borrowed.client.query<Row>(query);
  } catch (error) {
    if (!leavesSound(error)) borrowed.isSound = false;
    throw translate(error);
  }
};

const copyRows = async (
  borrowed: Borrowed,
  text: string,
  onRow: OnRow,
  signal?: AbortSignal,
): Promise<void> => {
  signal?.throwIfAborted();
  const giveUp = (): void => streamOf(borrowed.client).destroy();
  const query = new CopyOut(text, onRow);
  signal?.addEventListener('abort', giveUp);
  try {
    borrowed.client.query(query);
    await query.done;
  } catch (error) {
    if (!leavesSound(error)) borrowed.isSound = false;
    signal?.throwIfAborted();
    throw translate(error);
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
};

/** The driver's types keep it to themselves. */
const streamOf = (client: pg.PoolClient): { destroy(): void } =>
  (client as unknown as { connection: pg.Connection }).connection.stream;

/** Nothing has been asked yet, so asking again is safe: a database that restarts is waited for. */
const connect = async (pool: pg.Pool): Promise<pg.PoolClient> => {
  const untilMs = performance.now() + reconnectMs.max;
  for (;;) {
    try {
      return await pool.connect();
    } catch (error) {
      if (pool.ending || performance.now() > untilMs) throw translate(error);
      await sleep(reconnectMs.pause);
    }
  }
};

/** Borrows a connection for one piece of work; gives it back only if it is still sound. */
const withClient = async <T>(pool: pg.Pool, work: (borrowed: Borrowed) => Promise<T>): Promise<T> => {
  const client = await connect(pool);
  const borrowed: Borrowed = { client, isSound: true };
  // It may break between two statements, when the pool does not watch it and no query is there to be told.
  const onError = (): void => void (borrowed.isSound = false);
  client.on('error', onError);
  try {
    return await work(borrowed);
  } finally {
    client.off('error', onError);
    client.release(!borrowed.isSound);
  }
};

const poolDatabase = (pool: pg.Pool, config: pg.PoolConfig): Database => {
  const atWork = new Set<Promise<unknown>>();
  const lend = async <T>(work: (borrowed: Borrowed) => Promise<T>): Promise<T> => {
    const promise = withClient(pool, work);
    atWork.add(promise);
    try {
      return await promise;
    } finally {
      atWork.delete(promise);
    }
  };
  return {
    ...queries(<Row extends pg.QueryResultRow>(query: pg.QueryConfig, reads?: boolean, onSend?: () => void) =>
      again(
        () =>
          lend((borrowed) => {
            onSend?.();
            return run<Row>(borrowed, query);
          }),
        reads,
      ),
    ),
    transact: (work) => transact(lend, work),
    copyOut: (text, onRow, signal) => lend((borrowed) => copyRows(borrowed, text, onRow, signal)),
    poolState: () => ({
      pool_total: pool.totalCount,
      pool_idle: pool.idleCount,
      pool_waiting: pool.waitingCount,
    }),
    listen: (channel, onNotify, onReconnect) => openListener({ config, channel, onNotify, onReconnect }),
    async [Symbol.asyncDispose]() {
      if (pool.ending) return;
      // A pool that ends forgets who waits for a connection: they would wait for ever.
      while (atWork.size > 0) await Promise.allSettled(atWork);
      await pool.end();
    },
  };
};

const queries = (execute: Execute): Pick<Database, 'kysely' | 'query' | 'script'> => ({
  kysely: createKysely(execute),
  async query<Row>(
    { name, text, reads, timeoutMs, onSend }: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const bound = timeoutMs === undefined ? {} : { query_timeout: timeoutMs };
    const query = { name, text, values: values as unknown[], ...bound };
    const { rows } = await execute(query, reads, onSend);
    return rows as Row[];
  },
  async script(text) {
    const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: scriptMs };
    await execute(query);
  },
});

const isConflict = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (conflicts.has(error.code) || isStalePlan(error));

/**
 * A newer release has changed what a statement returns, by a column or a function, after this connection prepared it.
 * PostgreSQL has no code of its own for that.
 */
const isStalePlan = ({ code, routine }: pg.DatabaseError): boolean =>
  code === '0A000' && routine === 'RevalidateCachedQuery';

/** The connection broke, or was broken off: not a query that took too long. */
const isBroken = (error: unknown): boolean => {
  if (!(error instanceof Problem) || error.code !== 'unavailable') return false;
  const code = (error.cause as { code?: string } | undefined)?.code;
  return (
    code !== canceled &&
    code !== '55P03' &&
    !/timeout/i.test((error.cause as Error | undefined)?.message ?? '')
  );
};

/** One statement is one transaction: what the database found to conflict has not happened. */
const again = async <T>(work: () => Promise<T>, reads = false): Promise<T> => {
  const untilMs = performance.now() + reconnectMs.max;
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const isWorth = isConflict(error)
        ? tries < transactTries
        : reads && isBroken(error) && performance.now() < untilMs;
      if (!isWorth) throw error;
      await sleep(5 * tries);
    }
  }
};

type Lend = <T>(work: (borrowed: Borrowed) => Promise<T>) => Promise<T>;

const transact = async <T>(lend: Lend, work: (tx: Database) => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await lend((borrowed) => inTransaction(borrowed, work));
    } catch (error) {
      if (!isConflict(error) || tries >= transactTries) throw error;
      await sleep(5 * tries);
    }
  }
};

const inTransaction = async <T>(borrowed: Borrowed, work: (tx: Database) => Promise<T>): Promise<T> => {
  let isOpen = true;
  const execute: Execute = (query, _reads, onSend) => {
    if (!isOpen) throw new Error('The transaction of this handle has ended');
    onSend?.();
    return run(borrowed, query);
  };
  const tx: Database = {
    ...queries(execute),
    transact: (inner) => inner(tx),
    copyOut(text, onRow, signal) {
      if (!isOpen) throw new Error('The transaction of this handle has ended');
      return copyRows(borrowed, text, onRow, signal);
    },
    poolState: () => ({ pool_total: 1, pool_idle: 0, pool_waiting: 0 }),
    listen: () => Promise.reject(new Error('A transaction cannot listen')),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await run(borrowed, { text: 'begin' });
  try {
    const result = await work(tx);
    const { command } = await run(borrowed, { text: 'commit' });
    // PostgreSQL answers a commit after a failed statement with a rollback, and no error.
    if (command !== 'COMMIT')
      throw new Error(
        'Nothing was committed: a statement of the transaction failed, and its error was caught',
      );
    return result;
  } catch (error) {
    // The server rolls back what it cannot be asked to.
    if (borrowed.isSound) await run(borrowed, { text: 'rollback' }).catch(() => undefined);
    throw error;
  } finally {
    isOpen = false;
  }
};
