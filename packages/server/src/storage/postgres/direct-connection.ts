// The connection of SVC_DATABASE_LISTEN_URI, which keeps its session while SVC_DATABASE_URI leads to a pooler in transaction mode.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import { within } from '../../backoff.ts';
import { type ConnectionSetup, type DatabaseOptions, directSetup } from './connection-options.ts';
import type { Database } from './database.ts';
import { connectAny } from './listener.ts';
import { checkSession, isPoolerRefusal, poolerRefusal } from './session-check.ts';

/** A notification needs milliseconds. */
const notificationMs = 5_000;
const variable = 'SVC_DATABASE_LISTEN_URI';

/** Opens a direct connection that keeps its session. Throws `unavailable` with advice. */
export const connectDirect = async (setup: ConnectionSetup): Promise<pg.Client> => {
  const client = await connectAny(setup).catch((error: unknown) => {
    throw explain(error);
  });
  try {
    await checkSession(client, () => connectAny(setup), variable);
    return client;
  } catch (error) {
    void client.end();
    throw explain(error);
  }
};

/**
 * Checks that the direct connection keeps its session and receives the notifications that `database` sends, so both lead to the same
 * database. Does nothing without a direct connection. Throws `unavailable` with advice.
 */
export const checkDirect = async (database: Database, options: DatabaseOptions): Promise<void> => {
  if (options.direct === undefined) return;
  const client = await connectDirect(directSetup(options));
  try {
    if (await receives(client, database)) return;
  } catch (error) {
    throw explain(error);
  } finally {
    void client.end();
  }
  throw new Problem(
    'unavailable',
    `The connection of ${variable} does not receive the notifications that are sent on SVC_DATABASE_URI. ` +
      'Both must lead to the same database of the same PostgreSQL server',
  );
};

const receives = async (client: pg.Client, database: Database): Promise<boolean> => {
  const channel = `svc_check_${randomUUID()}`;
  const received = new Promise<boolean>((resolve) => client.once('notification', () => resolve(true)));
  await client.query(`listen ${client.escapeIdentifier(channel)}`);
  await database.query({ text: `select pg_notify($1, '')` }, [channel]);
  return within(received, notificationMs, () => false);
};

const explain = (cause: unknown): Problem => {
  if (cause instanceof Problem) return cause;
  if (isPoolerRefusal(cause)) return poolerRefusal(cause, { isPooled: false, variable });
  const { message } = cause as Error;
  return new Problem('unavailable', `The connection of ${variable} cannot be used: ${message}`, { cause });
};
