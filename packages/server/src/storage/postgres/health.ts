// Checks that the database can serve requests: it is reachable, writable, and its disk has room.
import { Problem } from '@svc/contract/problem';
import { within } from '../../backoff.ts';
import type { Database } from './database.ts';
import type { Outage } from './connection-pool.ts';
import { statement } from './statement.ts';

/** A healthy database needs milliseconds. */
const lookMs = 3_000;

export const statements = {
  bounds: statement(`select set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)`, {
    timeoutMs: lookMs,
  }),
  /**
   * Generates a megabyte, which exceeds `work_mem` and is therefore written to a temporary file next to the data. A small write to a
   * table would not prove that the disk has room: it may fit into an existing page.
   */
  probe: statement<{ read_only: boolean; rows: number }>(
    `select current_setting('transaction_read_only') = 'on' as read_only, count(*)::integer as rows
      from generate_series(1, 32768)`,
    { timeoutMs: lookMs },
  ),
};

export const databaseHealth = (db: Database) => ({
  /** Throws `unavailable` with the reason. */
  async check(): Promise<void> {
    const look = db.transact(async (tx) => {
      await tx.query(statements.bounds, []);
      return tx.query(statements.probe, []);
    });
    const [row] = await within(look, lookMs, () => {
      throw noAnswer(db.outage());
    });
    if (row?.read_only) throw new Problem('unavailable', 'The database is read-only at the moment');
  },
});

/** Why the database has not answered. `nowMs`: as performance.now(). */
export const noAnswer = (outage: Outage | undefined, nowMs = performance.now()): Problem => {
  if (outage === undefined)
    return new Problem('unavailable', `The database has not answered within ${lookMs / 1_000} s`);
  const seconds = Math.round((nowMs - outage.sinceMs) / 1_000);
  const { code } = outage.error as { code?: unknown };
  const reason = typeof code === 'string' && /^\w{1,32}$/.test(code) ? ` (${meanings[code] ?? code})` : '';
  return new Problem('unavailable', `Connecting to the database for ${seconds} s${reason}`);
};

/** Reasons for which an operator has to do something. The response is public, so it names no user and no database. */
const meanings: Readonly<Record<string, string>> = {
  '28000': 'the user of DATABASE_URI may not connect',
  '28P01': 'the password of DATABASE_URI is wrong',
  '3D000': 'the database of DATABASE_URI does not exist',
  '42501': 'the user of DATABASE_URI may not connect',
  '53300': 'PostgreSQL has no free connection',
};
