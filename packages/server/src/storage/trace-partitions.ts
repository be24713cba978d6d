// The days of traces: partitions made ahead, swept, and let go with all that is in them.
import type { Database } from './database.ts';

const statements = {
  ahead: {
    name: 'trace_partitions_ahead',
    text: 'select add_trace_days(array(select current_date + d from generate_series(0, $1::integer) d))',
  },
  old: {
    name: 'trace_partitions_old',
    text: 'select day from trace_days where day < current_date - $1::integer order by day limit 1',
  },
  drop: { name: 'trace_partitions_drop', text: 'select drop_trace_day($1)' },
  delete: { name: 'trace_partitions_delete', text: 'select delete_old_traces($1, $2) as count' },
  adopt: { name: 'trace_partitions_adopt', text: 'select adopt_late_orphans($1) as count' },
  endLost: {
    name: 'trace_partitions_end_lost',
    text: `select end_lost_traces($1 * interval '1 ms', $2) as count`,
  },
};

export type TracePartitionStorage = ReturnType<typeof tracePartitionStorage>;

export const tracePartitionStorage = (db: Database) => ({
  /** Today's, and those of so many days to come. */
  async addAhead(days: number): Promise<void> {
    await db.query(statements.ahead, [days]);
  },

  /** Lets the oldest day go that is kept no longer. Whether there was one. */
  async dropOldest(daysKept: number): Promise<boolean> {
    const [old] = await db.query<{ day: string }>(statements.old, [daysKept]);
    if (old) await db.query(statements.drop, [old.day]);
    return old !== undefined;
  },

  /** Deletes at most so many rows of what is kept no longer, and has no day of its own. How many. */
  async deleteOld(daysKept: number, limit: number): Promise<number> {
    return (await db.query<{ count: number }>(statements.delete, [daysKept, limit]))[0]?.count ?? 0;
  },

  /** Gives paths to runs whose parents have come unnoticed. How many. */
  async adoptLate(limit: number): Promise<number> {
    return (await db.query<{ count: number }>(statements.adopt, [limit]))[0]?.count ?? 0;
  },

  /** Ends what is pending in traces of runs of this server that are over, when nothing was heard of it for so long. How many. */
  async endLost(quietMs: number, limit: number): Promise<number> {
    return (await db.query<{ count: number }>(statements.endLost, [quietMs, limit]))[0]?.count ?? 0;
  },
});
