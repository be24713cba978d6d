// Runs: creation, claims, leases, and reads. Decisions under a lock live in the functions of migration 0002.
import type { Database } from './database.ts';

export interface RunRow {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  status: 'pending' | 'running' | 'success' | 'error' | 'timeout' | 'interrupted';
  metadata: Record<string, unknown>;
  /** JSON text. */
  kwargs: string;
  multitask_strategy: string;
  temporary: boolean;
  /** JSON text. */
  error: string | null;
  attempt: number;
  lease_token: number;
  created_at: string;
  updated_at: string;
}

export interface NewRun {
  run_id: string;
  /** Null for a run without a thread. */
  thread_id: string | null;
  assistant_id: string;
  metadata: Record<string, unknown>;
  kwargs: string;
  multitask_strategy: string;
  create_thread: boolean;
  /** Take the lease at once when the thread is free. */
  claim: boolean;
  leaseMs: number;
  delayMs: number;
}

/** The run as it came to be, with what an executor needs to know about its assistant and thread. */
export interface RunSetting {
  thread_id: string;
  status: 'pending' | 'running';
  lease_token: number;
  created_at: string;
  graph_id: string;
  assistant_config: Record<string, unknown>;
  assistant_context: unknown;
  assistant_metadata: Record<string, unknown>;
  blob_space: string | null;
  thread_config: Record<string, unknown> | null;
  thread_metadata: Record<string, unknown> | null;
  head: string | null;
}

export type CreatedRun =
  | ({ outcome: 'created' } & RunSetting)
  | { outcome: 'no_assistant' | 'no_thread' | 'busy' };

export interface Lease {
  run_id: string;
  lease_token: number;
}

const columns = `run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, temporary, error,
  attempt, lease_token, created_at, updated_at`;

const statements = {
  create: {
    name: 'runs_create',
    text: `select * from create_run($1, $2, $3, $4, $5, $6, $7, $8, $9 * interval '1 ms', $10 * interval '1 ms')`,
  },
  claim: { name: 'runs_claim', text: `select ${columns} from claim_runs($1, $2 * interval '1 ms', $3)` },
  setting: {
    name: 'runs_setting',
    text: `select r.run_id, r.thread_id, r.status, r.lease_token, r.created_at, a.graph_id,
        a.config as assistant_config, a.context as assistant_context, a.metadata as assistant_metadata,
        t.blob_space, t.config as thread_config, t.metadata as thread_metadata, h.checkpoint_id as head
      from runs r join assistants a using (assistant_id)
      left join threads t on t.thread_id = r.thread_id
      left join checkpoint_heads h on h.thread_id = r.thread_id and h.checkpoint_ns = ''
      where r.run_id = any ($1::uuid[])`,
  },
  // In the order of ids, as the flush of an executor locks them.
  renew: {
    name: 'runs_renew',
    text: `with held as (
        select r.run_id from runs r
        join unnest($1::uuid[], $2::bigint[]) as l(run_id, lease_token)
          on r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running'
        order by r.run_id for update of r
      )
      update runs r set lease_until = now() + $3 * interval '1 ms' from held where r.run_id = held.run_id
      returning r.run_id`,
  },
  release: {
    name: 'runs_release',
    text: `update runs r set lease_until = now() - interval '1 ms'
      from unnest($1::uuid[], $2::bigint[]) as l(run_id, lease_token)
      where r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running'`,
  },
  fail: {
    name: 'runs_fail',
    text: `with ended as (
        update runs set status = 'error', error = $3, lease_until = null, updated_at = now()
        where run_id = $1 and lease_token = $2 and status = 'running' returning thread_id, temporary
      )
      select settle_thread(thread_id, 'error', null, $3) from ended where not temporary`,
  },
  get: { name: 'runs_get', text: `select ${columns} from runs where run_id = $1 and thread_id = $2` },
  find: { name: 'runs_find', text: `select ${columns} from runs where run_id = $1` },
  list: {
    name: 'runs_list',
    text: `select ${columns} from runs where thread_id = $1 and ($2::text is null or status = $2)
      order by created_at desc, run_id desc limit $3 offset $4`,
  },
  inFlight: {
    name: 'runs_in_flight',
    text: `select run_id from runs where thread_id = $1 and status in ('pending', 'running') order by created_at, run_id`,
  },
  delete: { name: 'runs_delete', text: `select delete_run($1, $2) as deleted` },
};

export type RunStorage = ReturnType<typeof runStorage>;

const split = (leases: Lease[]) => [
  leases.map((lease) => lease.run_id),
  leases.map((lease) => lease.lease_token),
];

export const runStorage = (db: Database) => ({
  async create(run: NewRun): Promise<CreatedRun> {
    const [row] = await db.query<CreatedRun>(statements.create, [
      run.run_id,
      run.thread_id,
      run.assistant_id,
      JSON.stringify(run.metadata),
      run.kwargs,
      run.multitask_strategy,
      run.create_thread,
      run.claim,
      run.leaseMs,
      run.delayMs,
    ]);
    return row as CreatedRun;
  },

  /**
   * Takes leases on up to `count` runs that may start. A returned run whose status is `error` was not claimed:
   * its attempts were used up.
   */
  claim: (count: number, leaseMs: number, attemptsMax: number): Promise<RunRow[]> =>
    db.query<RunRow>(statements.claim, [count, leaseMs, attemptsMax]),

  settings: (run_ids: string[]): Promise<(RunSetting & { run_id: string })[]> =>
    db.query<RunSetting & { run_id: string }>(statements.setting, [run_ids]),

  /** Returns the ids of the runs whose leases are still ours, now for `leaseMs` more. */
  async renew(leases: Lease[], leaseMs: number): Promise<string[]> {
    const rows = await db.query<{ run_id: string }>(statements.renew, [...split(leases), leaseMs]);
    return rows.map((row) => row.run_id);
  },

  /** Ends leases early, so that the runs can be claimed again at once. */
  async release(leases: Lease[]): Promise<void> {
    await db.query(statements.release, split(leases));
  },

  /** Ends a run that cannot even be started. */
  async fail({ run_id, lease_token }: Lease, error: string): Promise<void> {
    await db.query(statements.fail, [run_id, lease_token, error]);
  },

  async find(run_id: string, thread_id?: string): Promise<RunRow | undefined> {
    const [row] =
      thread_id === undefined
        ? await db.query<RunRow>(statements.find, [run_id])
        : await db.query<RunRow>(statements.get, [run_id, thread_id]);
    return row;
  },

  list: (
    thread_id: string,
    page: { status?: string | undefined; limit: number; offset: number },
  ): Promise<RunRow[]> =>
    db.query<RunRow>(statements.list, [thread_id, page.status ?? null, page.limit, page.offset]),

  /** Ids of the thread's runs that run or wait, oldest first. */
  async listInFlight(thread_id: string): Promise<string[]> {
    return (await db.query<{ run_id: string }>(statements.inFlight, [thread_id])).map((row) => row.run_id);
  },

  /** Removes a run and the checkpoints that it alone made. Says whether there was one, and whether it was still going. */
  async delete(run_id: string, thread_id: string): Promise<'deleted' | 'in_flight' | 'missing'> {
    const [row] = await db.query<{ deleted: 'deleted' | 'in_flight' | 'missing' }>(statements.delete, [
      run_id,
      thread_id,
    ]);
    return row?.deleted ?? 'missing';
  },
});
