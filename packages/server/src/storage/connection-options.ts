// What every connection is opened with, whoever named the database.
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import { columnTypes } from './column-types.ts';

export interface DatabaseOptions {
  /** With `connectionString`, what the URI says wins; TLS is as its sslmode and sslrootcert say. */
  connection: pg.PoolConfig;
  poolMax?: number;
  applicationName?: string;
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

/**
 * Our own schema, so that a database may be shared with others; times as columnTypes reads them. Nothing is compiled: a query over
 * many partitions looks dear enough for that, and then takes longer than it needs. A page out of order costs little more than the next one: that is
 * what disks are today, and sums read an index that has all they need only where the planner knows it.
 */
const session = '-c search_path=svc -c datestyle=ISO -c timezone=UTC -c jit=off -c random_page_cost=1.1';

export const poolConfig = ({
  connection,
  poolMax = 10,
  applicationName = 'svc',
}: DatabaseOptions): pg.PoolConfig => {
  const { connectionString, options, ...rest } = connection;
  return {
    ...timeouts,
    application_name: applicationName,
    ...rest,
    max: poolMax,
    types: columnTypes,
    ...(connectionString === undefined
      ? { options: options === undefined ? session : `${options} ${session}` }
      : { connectionString: withSession(connectionString) }),
  };
};

/** In the driver, a parameter of the URI replaces ours of the same name: so ours are added to it. */
const withSession = (uri: string): string => {
  if (!URL.canParse(uri)) {
    throw new Problem(
      'unavailable',
      'DATABASE_URI is not a URI such as postgresql://user:password@host:5432/database',
    );
  }
  const url = new URL(uri);
  const given = url.searchParams.get('options');
  url.searchParams.set('options', given === null ? session : `${given} ${session}`);
  return url.href;
};
