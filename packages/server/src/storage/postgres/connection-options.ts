// What every connection is opened with, whoever named the database.
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import { parseDatabaseUri } from '../../config/settings/database-uri.ts';
import { columnTypes } from './column-types.ts';
import { clientOf, HostRoute } from './host-route.ts';

export interface DatabaseOptions {
  /** With `connectionString`, what the URI says wins; TLS is as its sslmode and sslrootcert say. */
  connection: pg.PoolConfig;
  poolMax?: number;
  applicationName?: string;
}

/** How connections are made: where to, by which kind of client, and with what. */
export interface Connecting {
  route: HostRoute;
  Client: typeof pg.Client;
  config: pg.PoolConfig;
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
 * Our own schema, so that a database may be shared with others; times as columnTypes reads them. JIT is off: the planner overestimates
 * queries over many partitions. A page out of order costs little more than the next one: that is what disks are today, and sums read an
 * index that has all they need only where the planner knows it.
 */
const session = '-c search_path=svc -c datestyle=ISO -c timezone=UTC -c jit=off -c random_page_cost=1.1';

/** Of several hosts, one that takes writes is wanted unless the URI says otherwise: nothing works with another. */
export const connectingTo = ({
  connection,
  poolMax = 10,
  applicationName = 'svc',
}: DatabaseOptions): Connecting => {
  const { connectionString, options, ...rest } = connection;
  const base = { ...timeouts, application_name: applicationName, ...rest, max: poolMax, types: columnTypes };
  if (connectionString === undefined) {
    const route = new HostRoute([], 'any');
    const config = { ...base, options: options === undefined ? session : `${options} ${session}` };
    return { route, Client: clientOf(route), config };
  }
  const uri = parseDatabaseUri(connectionString, { options: session });
  if ('problem' in uri) throw new Problem('unavailable', `SVC_DATABASE_URI ${uri.problem}`);
  const { hosts, wanted = hosts.length > 1 ? 'read-write' : 'any', connectTimeoutMs } = uri;
  const route = new HostRoute(
    hosts.map((host) => host.uri),
    wanted,
  );
  const timeout = connectTimeoutMs === undefined ? {} : { connectionTimeoutMillis: connectTimeoutMs };
  return { route, Client: clientOf(route), config: { ...base, ...timeout } };
};
