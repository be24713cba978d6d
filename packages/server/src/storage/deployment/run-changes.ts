// Runs that have changed in the last seconds, for notifications of changes.
import type { Database } from '../postgres/database.ts';
import { passesAsRun, type RowFilter } from '../postgres/row-filter.ts';
import { all, select, sql } from '../postgres/sql.ts';
import { readStatement } from '../postgres/statement.ts';

export interface ChangedRun {
  run_id: string;
  /** Differs after every change of the run. */
  version: string;
}

/** Runs that one read returns. */
const changedMax = 2_000;

// `updated_at` is the time at which a transaction began; the change is visible when the transaction has committed. So reads overlap, and a change
// of a transaction that takes longer than this is missed.
const since = `now() - interval '10 s'`;
const branch = (condition: string, time: string): string =>
  `(select r.run_id, r.updated_at, r.attempt from runs r where ${condition} and r.${time} > ${since} order by r.${time} desc limit ${changedMax})`;

export const statements = {
  // The index runs_settled has all runs but those that execute, which are as many as there are slots, and those that were never claimed:
  // these have not changed since they were created.
  changed: readStatement<ChangedRun>(`select c.run_id, c.updated_at || ' ' || c.attempt as version from (
        ${branch(`r.status <> 'running' and (r.status <> 'pending' or r.lease_token > 0)`, 'updated_at')}
        union all ${branch(`r.status = 'running'`, 'updated_at')}
        union all ${branch(`r.status = 'pending' and r.lease_token = 0`, 'created_at')}
      ) c order by c.updated_at desc limit ${changedMax}`),
};

export const runChanges = (db: Database) => ({
  /** The newest changes of the runs of all users, so they are never sent. */
  listChanged: (): Promise<ChangedRun[]> => db.query(statements.changed, []),

  /** The threads of those of the runs that pass the filter; at most `limit`. */
  async listThreads(run_ids: readonly string[], access: RowFilter, limit: number): Promise<string[]> {
    const condition = all([sql`r.run_id = any (${run_ids}::uuid[])`, ...passesAsRun(access)]);
    const rows = await select<{ thread_id: string }>(
      db,
      sql`select distinct r.thread_id from runs r where ${condition} limit ${limit}`,
    );
    return rows.map(({ thread_id }) => thread_id);
  },
});
