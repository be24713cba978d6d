// Checks at start that connections lead to a database in UTF-8 on PostgreSQL 15 or newer, and have the settings that statements rely on. A connection to
// PostgreSQL itself must also keep its session, which poolers in transaction mode do not.
import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import { type RoleFacts, roleFactsText, roleStatements } from './session-settings.ts';

const oldestVersion = 150_000;
/** How often the sessions are compared, since other clients use the pooler at the same time. */
const rounds = 5;

/** The settings that name a connection. */
export type UriVariable = 'SVC_DATABASE_URI' | 'SVC_DATABASE_LISTEN_URI';

interface Server {
  version: string;
  encoding: string;
}

interface Session extends Server {
  pid: number;
  settings: string;
}

/** The settings without which statements fail or return wrong values. */
const expected = 'svc, ISO, UTC';

const serverColumns = `current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`;

const sessionText = `select ${serverColumns}, pg_backend_pid() as pid,
  concat_ws(', ', current_setting('search_path'), split_part(current_setting('datestyle'), ',', 1), current_setting('timezone')) as settings`;

/** `open` opens another connection of the same kind. Throws `unavailable` with advice. */
export const checkSession = async (
  client: pg.ClientBase,
  open: () => Promise<pg.Client>,
  variable: UriVariable = 'SVC_DATABASE_URI',
): Promise<void> => {
  const { rows } = await client.query<Session>(sessionText);
  const { version = '0', encoding = '', pid = 0, settings = '' } = rows[0] ?? {};
  checkServer({ version, encoding });
  // PostgreSQL sends the pid of its backend process to every client. A pooler sends a number of its own.
  const isPooled = pid !== (client as unknown as { processID: number | null }).processID;
  if (isPooled && !(await keepsSession(client, open))) throw transactionMode(variable);
  if (settings === expected) return;
  throw new Problem(
    'unavailable',
    `Connections do not have the requested settings: search_path, datestyle and timezone are ${settings}, and should be ` +
      `${expected}. A connection pooler ignores the startup parameter "options": point ${variable} to PostgreSQL itself, ` +
      'or give these settings to the role',
  );
};

/** Checks a connection that may lead to a pooler in transaction mode. Throws `unavailable` with advice. */
export const checkPooledSession = async (client: pg.ClientBase): Promise<void> => {
  if (!(await begins(client)))
    throw new Problem(
      'unavailable',
      'SVC_DATABASE_URI points to a connection pooler that rejects transactions, as in statement mode: set pool_mode = transaction',
    );
  const { rows: servers } = await client.query<Server>(`select ${serverColumns}`);
  checkServer(servers[0] ?? { version: '0', encoding: '' });
  const { rows } = await client.query<RoleFacts>(roleFactsText);
  await client.query('commit');
  const facts = rows[0] as RoleFacts;
  const statements = roleStatements(facts);
  if (statements.length > 0) throw missingSettings(facts.role, statements);
};

/** False when a pooler rejects transactions. */
const begins = async (client: pg.ClientBase): Promise<boolean> => {
  try {
    await client.query('begin read only');
    return true;
  } catch (error) {
    if (isProtocolViolation(error)) return false;
    throw error;
  }
};

const missingSettings = (role: string, statements: readonly string[]): Problem =>
  new Problem(
    'unavailable',
    `Connections of SVC_DATABASE_URI do not have the settings that svc needs. Behind a connection pooler the role "${role}" must have them: ` +
      `${statements.map((statement) => `${statement};`).join(' ')} ` +
      'Execute these statements, and close the pooled connections: RECONNECT in the console of PgBouncer, or restart the pooler',
  );

const checkServer = ({ version, encoding }: Server): void => {
  if (Number(version) < oldestVersion)
    throw new Problem(
      'unavailable',
      `PostgreSQL 15 or newer is required; this server is ${Math.floor(Number(version) / 10_000)}`,
    );
  // SQL_ASCII stores the bytes of UTF-8 as they are.
  if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII')
    throw new Problem(
      'unavailable',
      `A database with the encoding UTF8 is required; this one has ${encoding}. Create another: ` +
        `CREATE DATABASE name ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0`,
    );
};

const transactionMode = (variable: UriVariable): Problem =>
  new Problem(
    'unavailable',
    `${variable} points to a connection pooler in transaction mode, which gives each transaction another session: ` +
      `prepared statements and notifications are lost. Point it to PostgreSQL itself, or to a pooler in session mode` +
      poolerAdvice(variable),
  );

/** How a pooler may stay between the server and PostgreSQL. */
const poolerAdvice = (variable: UriVariable): string =>
  variable === 'SVC_DATABASE_URI'
    ? '. To use a pooler in transaction mode, set SVC_DATABASE_LISTEN_URI to a direct connection'
    : '';

const startupRefusal = 'unsupported startup parameter';

/** PgBouncer's message for startup parameters that it does not support; its error code is that of any protocol violation. */
export const isPoolerRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.message.startsWith(startupRefusal);

/** `isPooled`: the server sends no startup parameters of its own, so the parameter is from the URI or from PGOPTIONS. */
export const poolerRefusal = (
  cause: unknown,
  { isPooled, variable }: { isPooled: boolean; variable: UriVariable },
): Problem =>
  new Problem(
    'unavailable',
    `${variable} points to a connection pooler that rejects the startup parameters of connections (${(cause as Error).message}). ` +
      (isPooled
        ? `Remove the parameter from ${variable} and from the environment (PGOPTIONS)`
        : `Point it to PostgreSQL itself${poolerAdvice(variable)}`),
    { cause },
  );

/** The error of PgBouncer for what it does not allow. */
const isProtocolViolation = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '08P01';

/** True when two connections that are open at the same time have two sessions, and each keeps its own. */
const keepsSession = async (client: pg.ClientBase, open: () => Promise<pg.Client>): Promise<boolean> => {
  const other = await open();
  try {
    const first = await pidOf(client);
    for (let round = 0; round < rounds; round++) {
      // A pooler in transaction mode assigns this transaction the session that the other connection has just used.
      await other.query('begin');
      if ((await pidOf(other)) === first || (await pidOf(client)) !== first) return false;
      await other.query('rollback');
    }
    return true;
  } catch (error) {
    // A pooler in statement mode rejects transactions.
    if (isProtocolViolation(error)) return false;
    throw error;
  } finally {
    await other.end().catch(() => undefined); // a pooler that rejected it has closed it
  }
};

const pidOf = async (client: pg.ClientBase): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;
