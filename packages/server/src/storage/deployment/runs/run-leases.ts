// Leases on runs: claims, renewals and releases, and operations of the lease holder.
import type { Database } from '../../postgres/database.ts';
import { toShownText } from '../../postgres/exact-text.ts';
import type { Lease } from '../../postgres/lease.ts';
import { runColumns, type RunRow, type RunSetting } from './run-rows.ts';
import { readStatement, statement } from '../../postgres/statement.ts';

/**
 * `sealed_user`: the encrypted user of the run; null for none. `webhook`: the URL that gets the outcome. `cancelled`: a cancel was
 * requested.
 */
export type ClaimedSetting = RunSetting & {
  run_id: string;
  cancelled: boolean;
  next_event_id: number | null;
  sealed_user: string | null;
  webhook: string | null;
};

export type Renewed = Pick<RunRow, 'run_id' | 'log'> & { cancelled: boolean; has_inputs: boolean };

/** `owner_hash`: the owner that the run counts for when slots are shared. */
export type ClaimedRun = RunRow & { owner_hash: number };

export interface ClaimOptions {
  count: number;
  worker_id: string;
  leaseMs: number;
  attemptsMax: number;
  /** Only runs of these graphs are claimed. */
  graphs: readonly string[];
  /** For each assistant the owner that was served last, in the order of service. */
  served: readonly (readonly [assistant_id: string, owner_hash: number])[];
}

/** How an attempt is released. */
export interface Release {
  /** The attempt may be the reason for its loss, so it is charged unless it committed the work of a node. */
  charge: boolean;
  /** The attempt is added to the run's lost attempts. */
  lost: boolean;
  reason: string;
}

/** Maximum number of runs that one statement recovers. */
const batchMax = 100;

export const statements = {
  claim: statement(
    `select ${runColumns}, owner_hash from claim_runs($1, $2, $3 * interval '1 ms', $4, $5, $6, $7)`,
  ),
  recover: statement<RunRow>(`select ${runColumns} from recover_lost_runs($1, $2)`),
  setting: readStatement<ClaimedSetting>('select * from run_settings($1)'),
  // Locks in the order of ids, as the flush of an executor does. `no key`: it does not wait for a flush, which may take long.
  renew: statement<Renewed>(`with held as (
        select r.run_id from runs r
        join unnest($1::uuid[], $2::bigint[]) as l(run_id, lease_token)
          on r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running'
        order by r.run_id for no key update of r
      ), renewed as (
        update runs r set lease_until = now() + $3 * interval '1 ms' from held where r.run_id = held.run_id
        returning r.run_id, r.thread_id, r.log
      )
      select n.run_id, n.log, c.run_id is not null as cancelled, exists (
        select 1 from runs i where i.thread_id = n.thread_id and i.status = 'pending' and i.input_of is not null) as has_inputs
      from renewed n left join run_cancels c using (run_id)`),
  release: statement('select release_runs($1, $2, $3, $4, $5)'),
  releaseCreated:
    statement(`select release_runs(array_agg(run_id), array_agg(lease_token), false, $3, true) from runs
      where run_id = any ($1::uuid[]) and worker_id = $2 and lease_token = 1 and status = 'running' having count(*) > 0`),
  stop: statement(`with held as (
        select run_id from runs where run_id = $1 and lease_token = $2 and status = 'running' for update
      )
      select end_run(run_id, $3, $4, null, $5, null) from held`),
};

export type RunLeaseStorage = ReturnType<typeof runLeaseStorage>;

const split = (leases: Lease[]) => [leases.map(({ id }) => id), leases.map(({ lease_token }) => lease_token)];

export const runLeaseStorage = (db: Database) => ({
  /**
   * Claims up to `count` runs that wait for a slot. A returned run whose status is not `running` has ended instead: its attempts were
   * used up, or it had been cancelled. `sinceMs`: the monotonic time from which the leases count.
   */
  async claim(options: ClaimOptions): Promise<{ runs: ClaimedRun[]; sinceMs: number }> {
    const { count, worker_id, leaseMs, attemptsMax, graphs, served } = options;
    // Measured when the statement is sent: the wait for a connection is not part of the lease.
    let sinceMs = performance.now();
    const claim = { ...statements.claim, onSend: () => (sinceMs = performance.now()) };
    const assistants = served.map(([assistant_id]) => assistant_id);
    const owners = served.map(([, owner_hash]) => owner_hash);
    const values = [count, worker_id, leaseMs, attemptsMax, graphs, assistants, owners];
    return { runs: await db.query<ClaimedRun>(claim, values), sinceMs };
  },

  /** Queues runs with expired leases. A returned run with another status than `pending` has ended instead. */
  recover: (attemptsMax: number): Promise<RunRow[]> => db.query(statements.recover, [batchMax, attemptsMax]),

  /** What an executor needs to execute these runs. `next_event_id` is null for a run without a log. */
  settings: (run_ids: string[]): Promise<ClaimedSetting[]> => db.query(statements.setting, [run_ids]),

  /** Extends the leases by `leaseMs` from now. Returns the runs whose leases were still valid. */
  renew: (leases: Lease[], leaseMs: number): Promise<Renewed[]> =>
    db.query({ ...statements.renew, timeoutMs: leaseMs / 3 }, [...split(leases), leaseMs]),

  /**
   * Releases runs, so that they can be claimed at once. When another worker has recovered a run, the lost attempt that it has
   * recorded for this lease gets the reason.
   */
  async release(leases: Lease[], { charge, lost, reason }: Release): Promise<void> {
    await db.query(statements.release, [...split(leases), charge, toShownText(reason), lost]);
  },

  /** Releases runs that were stored as claimed by the worker, and have not been claimed again. They are not charged. */
  async releaseCreated(run_ids: string[], worker_id: string, reason: string): Promise<void> {
    await db.query(statements.releaseCreated, [run_ids, worker_id, reason]);
  },

  /** Ends a run whose executor cannot do it, if the lease is still valid. `error` is JSON text. */
  async stop(
    { id, lease_token }: Lease,
    status: RunRow['status'],
    ending: 'error' | 'as_stored',
    error: string | null,
  ): Promise<void> {
    await db.query(statements.stop, [id, lease_token, status, ending, error]);
  },
});
