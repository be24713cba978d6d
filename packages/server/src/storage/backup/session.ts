// A connection of its own for a backup, without time limits: a copy of a large table takes minutes.
import type pg from 'pg';
import { type DatabaseOptions, directSetup } from '../postgres/connection-options.ts';
import { connectDirect } from '../postgres/direct-connection.ts';
import { connectAny } from '../postgres/listener.ts';

export interface Session extends AsyncDisposable {
  client: pg.Client;
}

/** Locks are waited for this long: statements that queue behind a waiting lock wait too. */
const lockMs = 10_000;

export const openSession = async (options: DatabaseOptions): Promise<Session> => {
  const setup = directSetup({ ...options, applicationName: 'svc backup' });
  const { query_timeout: _, ...config } = setup.config;
  const patient = { ...setup, config };
  const client = await (options.direct === undefined ? connectAny(patient) : connectDirect(patient));
  client.on('error', () => undefined); // the query that is running rejects with it
  await client.query(
    `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = ${lockMs}`,
  );
  return { client, [Symbol.asyncDispose]: () => client.end().catch(() => undefined) };
};
