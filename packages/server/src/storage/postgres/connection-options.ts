// Options of every connection, from a URI or from the embedded server.
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import { parseDatabaseUri } from '../../config/settings/database-uri.ts';
import { columnTypes } from './column-types.ts';
import { clientOf, HostSelector } from './host-selector.ts';

export interface DatabaseOptions {
  /** Settings in `connectionString` have priority. TLS follows its sslmode and sslrootcert. */
  connection: pg.PoolConfig;
  /** Most connections, without those that listen. */
  poolMax?: number;
  /** One of the connections is shared by short reads (shared-reads.ts). */
  sharesReads?: boolean;
  applicationName?: string;
}

/** Everything that is needed to open a connection: the hosts, the client class and its configuration. */
export interface ConnectionSetup {
  hosts: HostSelector;
  Client: typeof pg.Client;
  config: pg.PoolConfig;
  sizes: PoolSizes;
}

export interface PoolSizes {
  /** Connections of the pool. */
  max: number;
  /** Whether short reads have a connection of their own. */
  sharesReads: boolean;
}

/** With fewer connections, none is shared: transactions need them. */
const sharingMin = 4;

/** PostgreSQL ends a statement after this time; the driver does so five seconds later. */
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
 * Session settings:
 * - search_path: the tables are in a schema of their own, so other applications can share the database.
 * - datestyle, timezone: as `columnTypes` parses times.
 * - jit=off: the planner overestimates queries over many partitions, and JIT compilation would cost more than it saves.
 * - random_page_cost=1.1: disks are SSDs today, and sums use an index-only scan only when random reads are cheap.
 */
const session = '-c search_path=svc -c datestyle=ISO -c timezone=UTC -c jit=off -c random_page_cost=1.1';

/** Divides the allowed connections. */
export const poolSizes = ({ poolMax = 10, sharesReads = false }: DatabaseOptions): PoolSizes =>
  sharesReads && poolMax >= sharingMin
    ? { max: poolMax - 1, sharesReads }
    : { max: poolMax, sharesReads: false };

/** With several hosts, a writable one is required unless the URI says otherwise, since the server needs to write. */
export const connectionSetup = (given: DatabaseOptions): ConnectionSetup => {
  const { connection, applicationName = 'svc' } = given;
  const { connectionString, options, ...rest } = connection;
  const sizes = poolSizes(given);
  const base = {
    ...timeouts,
    application_name: applicationName,
    ...rest,
    max: sizes.max,
    types: columnTypes,
  };
  if (connectionString === undefined) {
    const selector = new HostSelector([], 'any');
    const config = { ...base, options: options === undefined ? session : `${options} ${session}` };
    return { hosts: selector, Client: clientOf(selector), config, sizes };
  }
  const uri = parseDatabaseUri(connectionString, { options: session });
  if ('problem' in uri) throw new Problem('unavailable', `SVC_DATABASE_URI ${uri.problem}`);
  const { hosts, wanted = hosts.length > 1 ? 'read-write' : 'any', connectTimeoutMs } = uri;
  const selector = new HostSelector(
    hosts.map((host) => host.uri),
    wanted,
  );
  const timeout = connectTimeoutMs === undefined ? {} : { connectionTimeoutMillis: connectTimeoutMs };
  return { hosts: selector, Client: clientOf(selector), config: { ...base, ...timeout }, sizes };
};
