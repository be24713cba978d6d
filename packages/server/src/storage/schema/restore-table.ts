// A table that exists while a backup is restored into a database. The transaction that loads all rows drops it, so it stays when the restore
// fails or is killed, and no server starts on the database then.
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import type { Database } from '../postgres/database.ts';

export const restoreTable = 'restore_unfinished';

/** Begins a restore. An earlier one may have been killed. */
export const createRestoreTable = async (client: pg.ClientBase): Promise<void> => {
  await client.query(
    `create schema if not exists svc; create table if not exists svc.${restoreTable} (begun_at timestamptz)`,
  );
};

export const dropRestoreTable = async (client: pg.ClientBase): Promise<void> => {
  await client.query(`drop table svc.${restoreTable}`);
};

export const hasRestoreTable = async (db: Database): Promise<boolean> => {
  const text = `select to_regclass('svc.${restoreTable}') is not null as is_found`;
  const [row] = await db.query<{ is_found: boolean }>({ text }, []);
  return row?.is_found === true;
};

/** What is wrong, and how to correct it. */
export const restoreTableProblem = {
  what: 'A restore into this database has not finished, and no row of the backup is stored.',
  remedy: `Repeat it: svc restore <backup>. To start without the backup, execute this statement in the database: drop table svc.${restoreTable}`,
};

/** Throws `conflict` when a restore into the database has not finished. */
export const assertNoRestore = async (db: Database): Promise<void> => {
  const { what, remedy } = restoreTableProblem;
  if (await hasRestoreTable(db)) throw new Problem('conflict', `${what} ${remedy}`);
};
