import { expect } from 'vitest';
import type { Database } from '../src/storage/postgres/database.ts';
import { eventually } from './eventually.ts';

const statement = {
  name: 'lock_waiters',
  text: `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
};

/** The sessions of this database that wait for a lock. */
export const lockWaiters = (db: Database): Promise<{ pid: number }[]> =>
  db.query<{ pid: number }>(statement, []);

/** Resolves when exactly one session waits. */
export const untilOneWaits = (db: Database): Promise<void> =>
  eventually(async () => expect(await lockWaiters(db)).toHaveLength(1));
