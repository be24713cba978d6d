// Whether a connection is what this server needs: to PostgreSQL 15 or newer, with its settings, and to one session for as
// long as it is open.
import { Problem } from '@svc/contract/problem';
import pg from 'pg';

const oldestVersion = 150_000;
/** How often the session of a connection is compared: other clients use the pooler at the same time. */
const rounds = 5;

interface Session {
  version: string;
  pid: number;
  settings: string;
}

/** Of what a connection asks for: what statements rely on. */
const expected = 'svc, ISO, UTC';

const sessionText = `select current_setting('server_version_num') as version, pg_backend_pid() as pid,
  concat_ws(', ', current_setting('search_path'), split_part(current_setting('datestyle'), ',', 1), current_setting('timezone')) as settings`;

/** `open` makes another connection of the same kind. Throws `unavailable` with what to do. */
export const checkSession = async (client: pg.ClientBase, open: () => Promise<pg.Client>): Promise<void> => {
  const { rows } = await client.query<Session>(sessionText);
  const { version = '0', pid = 0, settings = '' } = rows[0] ?? {};
  if (Number(version) < oldestVersion)
    throw new Problem(
      'unavailable',
      `PostgreSQL 15 or newer is needed; this server is ${Math.floor(Number(version) / 10_000)}`,
    );
  // PostgreSQL tells every client the process that serves it. A pooler tells a number of its own.
  const isPooled = pid !== (client as unknown as { processID: number | null }).processID;
  if (isPooled && !(await keepsSession(client, open))) throw transactionMode();
  if (settings === expected) return;
  throw new Problem(
    'unavailable',
    `Connections have other settings than they ask for: search_path, datestyle and timezone are ${settings}, and should be ` +
      `${expected}. A connection pooler ignores the startup parameter "options": let SVC_DATABASE_URI lead to PostgreSQL itself`,
  );
};

const transactionMode = (cause?: unknown): Problem =>
  new Problem(
    'unavailable',
    'SVC_DATABASE_URI leads to a connection pooler in transaction mode, which gives each transaction another session: ' +
      'prepared statements and notifications are lost. Let it lead to PostgreSQL itself, or to a pooler in session mode',
    cause === undefined ? {} : { cause },
  );

/** The words of PgBouncer for what it does not pass on; its code is that of any protocol violation. */
export const isPoolerRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.message.startsWith('unsupported startup parameter');

export const poolerRefusal = (cause: unknown): Problem =>
  new Problem(
    'unavailable',
    `SVC_DATABASE_URI leads to a connection pooler that refuses what connections ask for (${(cause as Error).message}). ` +
      'Let it lead to PostgreSQL itself',
    { cause },
  );

/** Two connections that are open at a time have two sessions, and each keeps its own. */
const keepsSession = async (client: pg.ClientBase, open: () => Promise<pg.Client>): Promise<boolean> => {
  const other = await open();
  try {
    const first = await pidOf(client);
    for (let round = 0; round < rounds; round++) {
      // A pooler in transaction mode gives this transaction the session that the other connection has just used.
      await other.query('begin');
      if ((await pidOf(other)) === first || (await pidOf(client)) !== first) return false;
      await other.query('rollback');
    }
    return true;
  } catch (error) {
    // In statement mode there are no transactions.
    if (error instanceof pg.DatabaseError && error.code === '08P01') return false;
    throw error;
  } finally {
    await other.end().catch(() => undefined); // a pooler that refused has closed it
  }
};

const pidOf = async (client: pg.ClientBase): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;
