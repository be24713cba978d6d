// A pool of connections to PostgreSQL. Every statement is prepared by name; a connection that timed out or broke
// is destroyed, since what it does with its next query cannot be known.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import pg from 'pg';
import { columnTypes } from './column-types.ts';
import type { Tables } from './tables.ts';

export interface DatabaseOptions {
  connection: pg.PoolConfig;
  poolMax?: number;
  applicationName?: string;
}

export interface Statement {
  name: string;
  text: string;
}

export interface Database extends AsyncDisposable {
  kysely: Kysely<Tables>;
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Several statements without parameters, as a migration has them. */
  script(text: string): Promise<void>;
  /** Runs in one transaction on one connection; tried again when the database found it to conflict with another. */
  transact<T>(work: (tx: Database) => Promise<T>): Promise<T>;
}

/** What PostgreSQL itself gives up after, and a little later the driver. Milliseconds. */
const statementMs = 30_000;
const timeouts = {
  connectionTimeoutMillis: 10_000,
  idleTimeoutMillis: 30_000,
  query_timeout: statementMs + 5_000,
  statement_timeout: statementMs,
  lock_timeout: 15_000,
  idle_in_transaction_session_timeout: 30_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} satisfies pg.PoolConfig;

const oldestVersion = 150_000;
const transactTries = 3;
const conflicts = new Set(['40001', '40P01']);

/** Connects once to see that it can be done. Throws `unavailable` with what to do about it. */
export const openDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const pool = new pg.Pool({
    ...timeouts,
    ...options.connection,
    max: options.poolMax ?? 10,
    types: columnTypes,
    application_name: options.applicationName ?? 'svc',
    // Our own schema, so that a database may be shared with others.
    options: '-c search_path=svc',
  });
  // An idle connection that breaks is replaced when the next one is needed; without this it would end the process.
  pool.on('error', () => undefined);
  try {
    await checkVersion(pool);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return poolDatabase(pool);
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

/** Errors after which nobody can say what the connection will do next. */
const isBroken = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof Problem) &&
  !(error instanceof pg.DatabaseError && error.severity === 'ERROR') &&
  isOfDriver(error);

/** Timeouts and sockets: errors of the driver, as against those of the code that works with a transaction. */
const isOfDriver = (error: Error): boolean =>
  error instanceof pg.DatabaseError ||
  'syscall' in error ||
  /timeout|terminated|Connection|not queryable/i.test(error.message);

const translate = (error: unknown): unknown => {
  const code = (error as { code?: string }).code ?? '';
  // Data that a column cannot take; what comes here should have been refused before.
  if (code.startsWith('22')) return new Problem('invalid', 'The request holds a value that cannot be stored', { cause: error });
  const isDown = isBroken(error) || code.startsWith('08') || code === '53300' || code.startsWith('57P');
  return isDown
    ? new Problem('unavailable', 'The database cannot be reached at the moment', { cause: error })
    : error;
};

const run = async <Row extends pg.QueryResultRow>(
  client: pg.PoolClient,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<Row>> => client.query<Row>(query);

/** Borrows a connection for one piece of work; gives it back only if it is still sound. */
const withClient = async <T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw translate(error);
  }
  let broken = false;
  try {
    return await work(client);
  } catch (error) {
    broken = isBroken(error);
    throw translate(error);
  } finally {
    client.release(broken);
  }
};

type Execute = <Row extends pg.QueryResultRow>(query: pg.QueryConfig) => Promise<pg.QueryResult<Row>>;

const poolDatabase = (pool: pg.Pool): Database => {
  const execute: Execute = (query) => withClient(pool, (client) => run(client, query));
  return {
    ...queries(execute),
    transact: (work) => transact(pool, work),
    async [Symbol.asyncDispose]() {
      await pool.end();
    },
  };
};

const queries = (execute: Execute): Pick<Database, 'kysely' | 'query' | 'script'> => ({
  kysely: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PreparingDriver(execute),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
  async query<Row>({ name, text }: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { rows } = await execute({ name, text, values: values as unknown[] });
    return rows as Row[];
  },
  async script(text) {
    await execute({ text });
  },
});

const transact = async <T>(pool: pg.Pool, work: (tx: Database) => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await withClient(pool, (client) => inTransaction(client, work));
    } catch (error) {
      if (!conflicts.has((error as { code?: string }).code ?? '') || tries >= transactTries) throw error;
      await sleep(5 * tries);
    }
  }
};

const inTransaction = async <T>(client: pg.PoolClient, work: (tx: Database) => Promise<T>): Promise<T> => {
  let isOpen = true;
  const execute: Execute = (query) => {
    if (!isOpen) throw new Error('The transaction of this handle has ended');
    return run(client, query);
  };
  const tx: Database = {
    ...queries(execute),
    transact: (inner) => inner(tx),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  await client.query('begin');
  try {
    const result = await work(tx);
    await client.query('commit');
    return result;
  } catch (error) {
    if (!isBroken(error)) await client.query('rollback');
    throw error;
  } finally {
    isOpen = false;
  }
};

/** Hands what Kysely compiles to the pool, prepared under a name made of its text. */
class PreparingDriver implements Driver {
  readonly #execute: Execute;
  readonly #names = new Map<string, string>();

  constructor(execute: Execute) {
    this.#execute = execute;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return {
      executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
        const { rows } = await this.#execute({
          name: this.#nameOf(sql),
          text: sql,
          values: parameters as unknown[],
        });
        return { rows: rows as R[] };
      },
      // oxlint-disable-next-line require-yield -- Kysely asks for it; nothing here streams
      async *streamQuery() {
        throw new Error('Queries are read whole');
      },
    };
  }

  #nameOf(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `k_${createHash('sha1').update(text).digest('hex').slice(0, 24)}`;
      this.#names.set(text, name);
    }
    return name;
  }

  init = (): Promise<void> => Promise.resolve();
  releaseConnection = (): Promise<void> => Promise.resolve();
  destroy = (): Promise<void> => Promise.resolve();
  beginTransaction = (): Promise<void> => Promise.reject(new Error('Use Database.transact'));
  commitTransaction = (): Promise<void> => Promise.reject(new Error('Use Database.transact'));
  rollbackTransaction = (): Promise<void> => Promise.reject(new Error('Use Database.transact'));
}
