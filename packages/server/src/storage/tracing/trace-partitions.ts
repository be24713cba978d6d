// Daily partitions of trace runs: creation in advance, removal after the retention time, and cleanup.
import type { Database } from '../postgres/database.ts';
import { statement } from '../postgres/statement.ts';

export const statements = {
  ahead: statement(
    'select add_trace_days(array(select current_date + d from generate_series(0, $1::integer) d))',
  ),
  old: statement<{ day: string }>(
    'select day from trace_days where day < current_date - $1::integer order by day limit 1',
  ),
  retire: statement('delete from trace_days where day = $1'),
  retired:
    statement<RetiredPartition>(`select to_date(right(c.relname, 8), 'YYYYMMDD') as day, c.relname as partition, p.name as parent, i.inhrelid is not null as is_attached,
        coalesce(i.inhdetachpending, false) as is_detaching
      from unnest(array['trace_runs', 'trace_attachments']) p (name)
      join pg_class c on c.relnamespace = 'svc'::regnamespace and c.relkind = 'r' and c.relname ~ ('^' || p.name || '_[0-9]{8}$')
      left join pg_inherits i on i.inhrelid = c.oid
      where not exists (select from trace_days t where t.day = to_date(right(c.relname, 8), 'YYYYMMDD')) order by 1, 2`),
  drop: statement('select drop_trace_day($1)'),
  delete: statement<{ count: number }>('select delete_old_traces($1, $2) as count'),
  moves: statement<{ count: number }>('select delete_trace_moves($1) as count'),
  adopt: statement<{ count: number }>('select adopt_late_orphans($1) as count'),
  endLost: statement<{ count: number }>(`select end_lost_traces($1 * interval '1 ms', $2) as count`),
};

/** A partition of a day beyond the retention time. */
interface RetiredPartition {
  day: string;
  parent: string;
  partition: string;
  is_attached: boolean;
  /** A concurrent detach was interrupted while it waited for older statements. */
  is_detaching: boolean;
}

export type TracePartitionStorage = ReturnType<typeof tracePartitionStorage>;

export const tracePartitionStorage = (db: Database) => ({
  /** Creates the partitions of today and of the next `days` days. */
  async addAhead(days: number): Promise<void> {
    await db.query(statements.ahead, [days]);
  },

  /**
   * Drops the oldest day beyond the retention time, and what an earlier call left of such days. Returns whether there was one.
   *
   * DROP TABLE of a partition needs an exclusive lock on its parent, which overlapping long queries never release. A partition that is
   * detached concurrently is hidden from new statements at once, and waits only for statements that began earlier. Throws
   * `unavailable` when one of those takes too long; the partition stays hidden and the next call continues.
   */
  async dropOldest(daysKept: number): Promise<boolean> {
    const [old] = await db.query(statements.old, [daysKept]);
    // From here on, trace writes to the day are ignored.
    if (old) await db.query(statements.retire, [old.day]);
    const retired = await db.query(statements.retired, []);
    for (const { parent, partition, is_attached, is_detaching } of retired)
      if (is_attached)
        // Cannot run inside a transaction.
        await db.script(
          `alter table ${parent} detach partition ${partition} ${is_detaching ? 'finalize' : 'concurrently'}`,
        );
    for (const day of new Set(retired.map((partition) => partition.day)))
      await db.query(statements.drop, [day]);
    return retired.length > 0;
  },

  /** Deletes at most `limit` expired rows that are in no daily partition. Returns how many. */
  async deleteOld(daysKept: number, limit: number): Promise<number> {
    return (await db.query(statements.delete, [daysKept, limit]))[0]?.count ?? 0;
  },

  /** Deletes at most `limit` moved starts that no export needs. Returns how many. */
  async deleteMoves(limit: number): Promise<number> {
    return (await db.query(statements.moves, [limit]))[0]?.count ?? 0;
  },

  /** Sets the dotted order of trace runs whose parents arrived in a concurrent batch. Returns how many. */
  async adoptLate(limit: number): Promise<number> {
    return (await db.query(statements.adopt, [limit]))[0]?.count ?? 0;
  },

  /** Ends pending trace runs of this server's runs that have ended, when nothing was sent for `quietMs`. Returns how many. */
  async endLost(quietMs: number, limit: number): Promise<number> {
    return (await db.query(statements.endLost, [quietMs, limit]))[0]?.count ?? 0;
  },
});
