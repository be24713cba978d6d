// Pending trace runs of this server's own runs. Only executors write here, so an entry cannot come from a client.
import type { Database } from '../postgres/database.ts';
import { statement } from '../postgres/statement.ts';

export interface OwnTraceRunKey {
  id: string;
  /** The run that is traced. */
  run_id: string;
}

export const statements = {
  add: statement(`insert into own_trace_runs (tenant_id, id, run_id)
      select $1, o.id, o.run_id from unnest($2::uuid[], $3::uuid[]) o (id, run_id) order by o.id
      on conflict (tenant_id, id) do update set run_id = excluded.run_id, sent_at = now()`),
  remove: statement('delete from own_trace_runs where tenant_id = $1 and id = any ($2::uuid[])'),
};

export const ownTraceStorage = (db: Database) => ({
  /** Records distinct trace runs that are about to be stored as pending. */
  async addPending(tenant_id: string, runs: readonly OwnTraceRunKey[]): Promise<void> {
    await db.query(statements.add, [tenant_id, runs.map(({ id }) => id), runs.map(({ run_id }) => run_id)]);
  },

  /** Removes the records of trace runs that were stored as ended. */
  async removePending(tenant_id: string, runs: readonly Pick<OwnTraceRunKey, 'id'>[]): Promise<void> {
    await db.query(statements.remove, [tenant_id, runs.map(({ id }) => id)]);
  },
});
