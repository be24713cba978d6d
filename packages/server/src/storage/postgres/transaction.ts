// What statements are sent to: a database, or one transaction on one connection.
import type pg from 'pg';
import type { ConnectionSetup } from './connection-options.ts';
import { copyRows, type Outage, type PooledConnection, runQuery } from './connection-pool.ts';
import type { OnRow } from './copy-out.ts';
import type { Statement } from './statement.ts';

export interface Database extends AsyncDisposable {
  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
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

/** What reads of one workspace need of a database. */
export type Transactions = Pick<Database, 'transact'>;

/** The driver's time limit cannot be switched off, so it is set to a day. */
const scriptMs = 24 * 60 * 60 * 1_000;

export type Handling = Pick<Statement, 'reads' | 'isShort' | 'onSend'>;

type Execute = <Row extends pg.QueryResultRow>(
  query: pg.QueryConfig,
  handling: Handling,
) => Promise<pg.QueryResult<Row>>;

/** A pooler gives the next transaction another session, which does not have the prepared statement. */
export const queries = (
  execute: Execute,
  { isPooled }: Pick<ConnectionSetup, 'isPooled'>,
): Pick<Database, 'query' | 'script'> => ({
  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const { text, timeoutMs } = statement;
    const name = isPooled ? undefined : statement.name;
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

interface TransactionOptions extends Pick<ConnectionSetup, 'isPooled'> {
  /** Begins the transaction. When it throws, the transaction is rolled back. */
  begin?: (connection: PooledConnection) => Promise<void>;
}

const beginPlain = async (connection: PooledConnection): Promise<void> => {
  await runQuery(connection, { text: 'begin' });
};

/** Runs `work` in one transaction on this connection, once. */
export const inTransaction = async <T>(
  connection: PooledConnection,
  work: (tx: Database) => Promise<T>,
  { begin = beginPlain, ...setup }: TransactionOptions,
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
  try {
    await begin(connection);
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
