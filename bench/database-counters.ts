// What the database did: statements, commits, and what it wrote. Needs pg_stat_statements, which is loaded when PostgreSQL starts.
import pg from 'pg';

export interface DatabaseCounters {
  statements: number;
  commits: number;
  walBytes: number;
  walRecords: number;
  fsyncs: number;
  tuplesUpdated: number;
  /** Updates that changed no index. */
  hotUpdates: number;
}

export interface StatementCost {
  text: string;
  calls: number;
  ms: number;
}

const counters = `select
    (select coalesce(sum(calls), 0) from pg_stat_statements)::float8 as statements,
    (select xact_commit from pg_stat_database where datname = current_database())::float8 as commits,
    (select wal_bytes from pg_stat_wal)::float8 as "walBytes",
    (select wal_records from pg_stat_wal)::float8 as "walRecords",
    (select coalesce(sum(fsyncs), 0) from pg_stat_io where object = 'wal')::float8 as fsyncs,
    (select coalesce(sum(n_tup_upd), 0) from pg_stat_user_tables)::float8 as "tuplesUpdated",
    (select coalesce(sum(n_tup_hot_upd), 0) from pg_stat_user_tables)::float8 as "hotUpdates"`;

const withClient = async <T>(dataDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ host: dataDir, port: 5432, user: 'svc', database: 'postgres' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Takes effect at the next start of PostgreSQL. */
export const loadStatementStatistics = (dataDir: string): Promise<void> =>
  withClient(dataDir, async (client) => {
    await client.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  });

export const enableStatementStatistics = (dataDir: string): Promise<void> =>
  withClient(dataDir, async (client) => {
    await client.query('create extension if not exists pg_stat_statements');
    await client.query('select pg_stat_statements_reset()');
  });

export const readCounters = (dataDir: string): Promise<DatabaseCounters> =>
  withClient(dataDir, async (client) => {
    const { rows } = await client.query<DatabaseCounters>(counters);
    return rows[0]!;
  });

/** Bytes of the tables and indexes. */
export const storedBytes = (dataDir: string): Promise<number> =>
  withClient(dataDir, async (client) => {
    const { rows } = await client.query<{ bytes: number }>(
      `select pg_database_size(current_database())::float8 as bytes`,
    );
    return rows[0]!.bytes;
  });

/** The statements that took most time. */
export const readStatements = (dataDir: string, count: number): Promise<StatementCost[]> =>
  withClient(dataDir, async (client) => {
    const { rows } = await client.query<StatementCost>(
      `select regexp_replace(query, '\\s+', ' ', 'g') as text, calls::float8 as calls, total_exec_time as ms
        from pg_stat_statements order by total_exec_time desc limit $1`,
      [count],
    );
    return rows;
  });
