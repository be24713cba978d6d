// Checks at start that connections lead to PostgreSQL 15 or newer, keep their settings, and keep one session each. Poolers in
// transaction mode do not.
import { Problem } from '@svc/contract/problem';
import pg from 'pg';

const oldestVersion = 150_000;
/** How often the sessions are compared, since other clients use the pooler at the same time. */
const rounds = 5;

interface Session {
  version: string;
  pid: number;
  settings: string;
}

/** The settings that statements rely on. */
const expected = 'svc, ISO, UTC';

const sessionText = `select current_setting('server_version_num') as version, pg_backend_pid() as pid,
  concat_ws(', ', current_setting('search_path'), split_part(current_setting('datestyle'), ',', 1), current_setting('timezone')) as settings`;

/** `open` opens another connection of the same kind. Throws `unavailable` with advice. */
export const checkSession = async (client: pg.ClientBase, open: () => Promise<pg.Client>): Promise<void> => {
  const { rows } = await client.query<Session>(sessionText);
  const { version = '0', pid = 0, settings = '' } = rows[0] ?? {};
  if (Number(version) < oldestVersion)
    throw new Problem(
      'unavailable',
      `PostgreSQL 15 or newer is required; this server is ${Math.floor(Number(version) / 10_000)}`,
    );
  // PostgreSQL sends the pid of its backend process to every client. A pooler sends a number of its own.
  const isPooled = pid !== (client as unknown as { processID: number | null }).processID;
  if (isPooled && !(await keepsSession(client, open))) throw transactionMode();
  if (settings === expected) return;
  throw new Problem(
    'unavailable',
    `Connections do not have the requested settings: search_path, datestyle and timezone are ${settings}, and should be ` +
      `${expected}. A connection pooler ignores the startup parameter "options": point SVC_DATABASE_URI to PostgreSQL itself`,
  );
};

const transactionMode = (cause?: unknown): Problem =>
  new Problem(
    'unavailable',
    'SVC_DATABASE_URI points to a connection pooler in transaction mode, which gives each transaction another session: ' +
      'prepared statements and notifications are lost. Point it to PostgreSQL itself, or to a pooler in session mode',
    cause === undefined ? {} : { cause },
  );

/** PgBouncer's message for startup parameters that it does not support; its error code is that of any protocol violation. */
export const isPoolerRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.message.startsWith('unsupported startup parameter');

export const poolerRefusal = (cause: unknown): Problem =>
  new Problem(
    'unavailable',
    `SVC_DATABASE_URI points to a connection pooler that rejects the startup parameters of connections (${(cause as Error).message}). ` +
      'Point it to PostgreSQL itself',
    { cause },
  );

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
    if (error instanceof pg.DatabaseError && error.code === '08P01') return false;
    throw error;
  } finally {
    await other.end().catch(() => undefined); // a pooler that rejected it has closed it
  }
};

const pidOf = async (client: pg.ClientBase): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;
