// Options of every connection, from a URI or from the embedded server.
import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import { parseDatabaseUri, type SessionAttributes } from '../../config/settings/database-uri.ts';
import { clientOf, HostSelector } from './host-selector.ts';
import { sessionOptions, sessionTimeouts, statementMs } from './session-settings.ts';

/** PostgreSQL writes `0020-01-31 12:00:00+00`. Date.parse() knows years before 1000 only in ISO 8601. */
const time = (text: string): string =>
  new Date(`${text.slice(0, 10)}T${text.slice(11).replace('+00', 'Z')}`).toISOString();

const integer = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`);
  return value;
};

/** By type oid. The session's time zone is UTC, so a timestamp without time zone is in UTC as well. */
const parsers = new Map<number, (text: string) => unknown>([
  [20, integer], // int8
  [1082, (text) => text], // date
  [1114, (text) => time(`${text}Z`)], // timestamp
  [1184, time], // timestamptz
]);

/** How the driver converts column values: times to ISO text in UTC, dates to text, 64-bit integers to numbers. */
const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') =>
    parsers.get(id) ?? pg.types.getTypeParser(id, format as 'text')) as typeof pg.types.getTypeParser,
};

export interface DatabaseOptions {
  /** Settings in `connectionString` have priority. TLS follows its sslmode and sslrootcert. */
  connection: pg.PoolConfig;
  /**
   * A connection that keeps its session, for LISTEN and backups. When it is set, `connection` may lead to a pooler in transaction mode:
   * it sends no startup parameters, because the role has the settings, and no named statements.
   */
  direct?: pg.PoolConfig;
  /** Most connections, without those that listen. */
  poolMax?: number;
  /** One of the connections is shared by short reads (shared-reads.ts). */
  sharesReads?: boolean;
  applicationName?: string;
  /** The kind of server that is required when the URI does not say. */
  wanted?: SessionAttributes;
  /** Time limit of a connection attempt when the URI does not say. */
  connectMs?: number;
}

/** Everything that is needed to open a connection: the hosts, the client class and its configuration. */
export interface ConnectionSetup {
  hosts: HostSelector;
  Client: typeof pg.Client;
  config: pg.PoolConfig;
  sizes: PoolSizes;
  /** A transaction may get another session than the one before it, so nothing of a session is used outside of a transaction. */
  isPooled: boolean;
}

export interface PoolSizes {
  /** Connections of the pool. */
  max: number;
  /** Whether short reads have a connection of their own. */
  sharesReads: boolean;
}

/** With fewer connections, none is shared: transactions need them. */
const sharingMin = 4;

const timeouts = {
  connectionTimeoutMillis: 10_000,
  idleTimeoutMillis: 30_000,
  query_timeout: statementMs + 5_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} satisfies pg.PoolConfig;

/** Divides the allowed connections. A pooler shares connections itself. */
export const poolSizes = ({ poolMax = 10, sharesReads = false, direct }: DatabaseOptions): PoolSizes =>
  sharesReads && poolMax >= sharingMin && direct === undefined
    ? { max: poolMax - 1, sharesReads }
    : { max: poolMax, sharesReads: false };

/** With several hosts, a writable one is required unless the URI says otherwise, since the server needs to write. */
export const connectionSetup = (given: DatabaseOptions): ConnectionSetup => {
  const { connection, applicationName = 'svc' } = given;
  const { connectionString, options, ...rest } = connection;
  const sizes = poolSizes(given);
  const isPooled = given.direct !== undefined;
  const base = {
    ...timeouts,
    ...(isPooled ? {} : sessionTimeouts),
    application_name: applicationName,
    ...rest,
    max: sizes.max,
    types: columnTypes,
  };
  const startup = isPooled ? undefined : sessionOptions;
  if (connectionString === undefined) {
    const selector = new HostSelector([], 'any');
    const all = [options, startup].filter((each) => each !== undefined).join(' ');
    const config = { ...base, ...(all === '' ? {} : { options: all }) };
    return { hosts: selector, Client: clientOf(selector), config, sizes, isPooled };
  }
  const uri = parseDatabaseUri(connectionString, startup === undefined ? {} : { options: startup });
  if ('problem' in uri) throw new Problem('unavailable', `SVC_DATABASE_URI ${uri.problem}`);
  const { hosts } = uri;
  const wanted = uri.wanted ?? given.wanted ?? (hosts.length > 1 ? 'read-write' : 'any');
  const connectMs = uri.connectTimeoutMs ?? given.connectMs;
  const selector = new HostSelector(
    hosts.map(({ uris }) => uris),
    wanted,
  );
  const timeout = connectMs === undefined ? {} : { connectionTimeoutMillis: connectMs };
  return { hosts: selector, Client: clientOf(selector), config: { ...base, ...timeout }, sizes, isPooled };
};

/** For connections that keep their session. */
export const directSetup = ({ direct, ...options }: DatabaseOptions): ConnectionSetup =>
  connectionSetup({ ...options, connection: direct ?? options.connection });
