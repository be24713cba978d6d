// Reports of workers: the runs and graphs that they execute, and the connections that they may use.
import type { ServerWorker } from '@svc/contract';
import type { ProcessIdentity } from '../../config/process-identity.ts';
import type { Database } from '../postgres/database.ts';
import { readStatement, statement } from '../postgres/statement.ts';

export interface WorkerReport extends ProcessIdentity {
  worker_id: string;
  name: string;
  slots: number;
  running: number;
  blocked_executors: number;
  draining: boolean;
  /** Maximum number of connections of all its processes. */
  connections: number;
  /** Graphs that it executes. */
  graphs: readonly string[];
}

/** A worker whose process is checked. */
export interface OpenWorker {
  worker_id: string;
  name: string;
  process: string;
}

/** `left`: it has stopped. `silent`: its last report is old, or its process has ended without a report. */
export interface QueueState {
  /** Live workers that accept runs, and their slots. */
  workers: number;
  slots: number;
  /** Exact up to 1,000; a larger number may be some seconds old. */
  pending: number;
  running: number;
  /** How long the oldest run that waits for a slot has been waiting, in milliseconds; null when there is none. */
  oldest_pending_ms: number | null;
}

const hasLeft = 'draining and slots = 0 and connections = 0';

/**
 * Runs `r` whose leases end with the process of their worker. A run with a charged attempt keeps its lease: a server that crashes
 * repeatedly would otherwise use up all attempts of its runs within seconds.
 */
const hasEndableLease = `r.status = 'running' and r.lease_until > now() and r.attempt = 1`;

export const statements = {
  report:
    statement(`insert into workers (worker_id, name, slots, running, blocked_executors, draining, connections, graphs, machine, process)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (worker_id) do update
      set slots = excluded.slots, running = excluded.running, blocked_executors = excluded.blocked_executors,
        draining = excluded.draining, graphs = excluded.graphs, connections = excluded.connections, seen_at = now(),
        machine = case when workers.ended_at is null then workers.machine end, ended_at = null`),
  // The row is kept for a day, because it shows which graphs were executed lately.
  leave: statement(
    `update workers set draining = true, slots = 0, running = 0, blocked_executors = 0, connections = 0, seen_at = now()
      where worker_id = $1`,
  ),
  open: readStatement<OpenWorker>(`select worker_id, name, process from workers
      where machine = $1 and worker_id <> $2 and seen_at > now() - interval '1 day'
        and (ended_at is null and not (${hasLeft})
          or exists (select from runs r where r.worker_id = workers.worker_id and ${hasEndableLease}))
      order by seen_at desc, worker_id limit 1000`),
  // Locks in the order of ids, as the flush of an executor does.
  end: statement(`with ended as (
        update workers set ended_at = coalesce(ended_at, now()), draining = true, slots = 0, running = 0,
          blocked_executors = 0, connections = 0 where worker_id = any ($1) returning worker_id
      ), held as (
        select r.run_id from runs r join ended e on e.worker_id = r.worker_id
        where ${hasEndableLease} order by r.run_id for update of r
      )
      update runs r set lease_until = now() from held where r.run_id = held.run_id returning r.run_id`),
  prune: statement(`delete from workers where seen_at < now() - interval '1 day'`),
  // The table has the processes of the last day.
  list: readStatement<ServerWorker>(`select worker_id, name, slots, running, blocked_executors, graphs, connections,
        started_at, seen_at, case when ended_at is not null then 'silent' when ${hasLeft} then 'left'
          when seen_at <= now() - $1 * interval '1 ms' then 'silent' when draining then 'draining' else 'live' end as state
      from workers where seen_at > now() - interval '1 day' order by seen_at desc, worker_id limit $2`),
  served: readStatement<{ served: boolean }>(`select is_graph_served($1, $2 * interval '1 ms') as served`),
  // Counts up to 1,000 pending runs; for more, reads the count that a periodic task stores.
  queue: readStatement<QueueState>(`select
        (select count(*)::integer from workers where seen_at > now() - $1 * interval '1 ms' and not draining and slots > 0) as workers,
        (select coalesce(sum(slots), 0)::integer from workers where seen_at > now() - $1 * interval '1 ms' and not draining) as slots,
        (select case when n.pending < 1001 then n.pending else greatest(n.pending, (select q.pending from run_queue_size q)) end
         from (select count(*) as pending
               from (select 1 from runs where status = 'pending' order by not_before limit 1001) s) n) as pending,
        (select count(*)::integer from runs where status = 'running') as running,
        (select extract(epoch from now() - r.not_before)::float8 * 1000
         from runs r where r.status = 'pending' and r.waits_for = 'slot'
         order by r.not_before, r.run_id desc limit 1) as oldest_pending_ms`),
};

/** A worker reports itself twice per lease duration, and counts as alive for two lease durations after a report. */
export const nodeTtlMs = (leaseMs: number): number => leaseMs * 2;

/** A graph counts as served for this time after the last report of a worker that executes it. */
export const servedWithinMs = 10 * 60_000;

export type WorkerStorage = ReturnType<typeof workerStorage>;

export const workerStorage = (db: Database) => ({
  async report(report: WorkerReport): Promise<void> {
    const { worker_id, name, slots, running, blocked_executors, draining } = report;
    const { connections, graphs, machine, process } = report;
    const doing = [slots, running, blocked_executors, draining];
    const values = [worker_id, name, ...doing, connections, graphs, machine, process];
    await db.query(statements.report, values);
  },

  /**
   * The other workers of a machine that have not reported their end, or have runs whose leases can be ended; at most 1,000. Never lists a
   * worker that has reported itself after its end was recorded: the check of its process was wrong.
   */
  listOpen: (machine: string, worker_id: string): Promise<OpenWorker[]> =>
    db.query(statements.open, [machine, worker_id]),

  /** Records that these workers have ended, and ends the leases of their runs. Returns the number of these runs. */
  async end(worker_ids: string[]): Promise<number> {
    return (await db.query(statements.end, [worker_ids])).length;
  },

  async leave(worker_id: string): Promise<void> {
    await db.query(statements.leave, [worker_id]);
    await db.query(statements.prune, []);
  },

  /** The last report first. A worker is silent from `ttlMs` after its last report. */
  list: (ttlMs: number, limit: number): Promise<ServerWorker[]> => db.query(statements.list, [ttlMs, limit]),

  /** True when a worker that executes the graph has reported itself within this time. */
  async hasServed(graph_id: string, withinMs: number): Promise<boolean> {
    return (await db.query(statements.served, [graph_id, withinMs]))[0]?.served ?? false;
  },

  /** `ttlMs`: workers whose last report is older are not counted. */
  async queue(ttlMs: number): Promise<QueueState> {
    const [row] = await db.query(statements.queue, [ttlMs]);
    return row as QueueState;
  },
});
