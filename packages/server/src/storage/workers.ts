// Nodes, as they last reported themselves: what they execute, and how many connections they may have.
import type { Database } from './database.ts';

export interface WorkerReport {
  worker_id: string;
  name: string;
  slots: number;
  running: number;
  draining: boolean;
  /** That all of its processes may have together. */
  connections: number;
}

export interface QueueState {
  /** Workers heard of lately that take runs, and their slots. */
  workers: number;
  slots: number;
  pending: number;
  running: number;
  /** Milliseconds that the oldest run which may start has been waiting; null when none does. */
  oldest_pending_ms: number | null;
}

const statements = {
  report: {
    name: 'workers_report',
    text: `insert into workers (worker_id, name, slots, running, draining, connections) values ($1, $2, $3, $4, $5, $6)
      on conflict (worker_id) do update
      set slots = excluded.slots, running = excluded.running, draining = excluded.draining, seen_at = now()`,
  },
  leave: { name: 'workers_leave', text: 'delete from workers where worker_id = $1' },
  prune: { name: 'workers_prune', text: `delete from workers where seen_at < now() - interval '1 day'` },
  // Runs that wait for another one on their thread have not been kept waiting by the server.
  queue: {
    name: 'workers_queue',
    reads: true,
    text: `select
        (select count(*)::integer from workers where seen_at > now() - $1 * interval '1 ms' and not draining and slots > 0) as workers,
        (select coalesce(sum(slots), 0)::integer from workers where seen_at > now() - $1 * interval '1 ms' and not draining) as slots,
        (select count(*)::integer from runs where status = 'pending') as pending,
        (select count(*)::integer from runs where status = 'running') as running,
        (select extract(epoch from now() - greatest(r.created_at, r.not_before))::float8 * 1000
         from runs r where r.status = 'pending' and r.not_before <= now()
           and not exists (select 1 from runs o where o.thread_id = r.thread_id and o.run_id <> r.run_id
             and (o.status = 'running' or (o.status = 'pending' and (o.created_at, o.run_id) < (r.created_at, r.run_id))))
         order by r.not_before limit 1) as oldest_pending_ms`,
  },
};

/** A node reports itself twice in the life of a lease. */
export const nodeTtlMs = (leaseMs: number): number => leaseMs * 2;

export type WorkerStorage = ReturnType<typeof workerStorage>;

export const workerStorage = (db: Database) => ({
  async report({ worker_id, name, slots, running, draining, connections }: WorkerReport): Promise<void> {
    await db.query(statements.report, [worker_id, name, slots, running, draining, connections]);
  },

  async leave(worker_id: string): Promise<void> {
    await db.query(statements.leave, [worker_id]);
    await db.query(statements.prune, []);
  },

  /** `ttlMs`: how long ago a live worker may have been heard of. */
  async queue(ttlMs: number): Promise<QueueState> {
    const [row] = await db.query<QueueState>(statements.queue, [ttlMs]);
    return row as QueueState;
  },
});
