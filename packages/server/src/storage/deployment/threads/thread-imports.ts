// Threads of another server, stored with their ids, times, checkpoints and ended runs.
import type { Database } from '../../postgres/database.ts';
import type { CheckpointBatch } from '../checkpoints/checkpoint-rows.ts';
import { checkpointStorage } from '../checkpoints/checkpoints.ts';
import { readStatement, statement } from '../../postgres/statement.ts';

export interface ThreadImport {
  thread_id: string;
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  status: 'idle' | 'busy' | 'interrupted' | 'error';
  created_at: string;
  updated_at: string;
}

/** What follows from the newest checkpoint of an imported thread. Interrupts and error are JSON text. */
export interface ImportedEnd {
  status: 'idle' | 'interrupted' | 'error';
  interrupts: string;
  error: string | null;
}

/** An ended run. */
export interface RunImport {
  run_id: string;
  assistant_id: string;
  graph_id: string | null;
  status: string;
  metadata: Record<string, unknown>;
  /** JSON text. */
  kwargs: string;
  multitask_strategy: string;
  created_at: string;
  updated_at: string;
  /** The root heads when the run began and when it ended. */
  found_head: string | null;
  final_head: string | null;
}

/** The transaction of one thread. */
export interface ImportTarget {
  store(batch: CheckpointBatch): Promise<void>;
  /** Returns how many were added: a run whose id is taken is left out. */
  addRuns(runs: RunImport[]): Promise<number>;
}

export const statements = {
  // A time to live counts from now: counted from the last change of the state, it would delete old threads at once.
  create:
    statement(`insert into threads (thread_id, blob_space, metadata, config, created_at, updated_at, state_updated_at, ttl_since)
      select $1::uuid, $1::uuid, $2::jsonb, $3::jsonb, $4::timestamptz, $5::timestamptz, $5::timestamptz, now()
      where not is_of_lone_run($1)
      on conflict (thread_id) do nothing returning thread_id`),
  end: statement(
    `update threads set status = $2, settled_status = $2, interrupts = $3, error = $4 where thread_id = $1`,
  ),
  runs: statement<{ added: number }>(`with added as (
        insert into runs (run_id, thread_id, assistant_id, graph_id, status, metadata, kwargs, multitask_strategy, attempt, lease_token,
          created_at, updated_at, not_before, started_at, found_head, final_head, owner_hash)
        select r.run_id, t.thread_id, r.assistant_id, r.graph_id, r.status, r.metadata, r.kwargs, r.multitask_strategy, 1, 1,
          r.created_at, r.updated_at, r.created_at, r.created_at, r.found_head, r.final_head, run_owner(r.metadata, t.metadata)
        from threads t, json_to_recordset($2::json) as r(run_id uuid, assistant_id uuid, graph_id text, status text, metadata jsonb,
          kwargs text, multitask_strategy text, created_at timestamptz, updated_at timestamptz, found_head uuid, final_head uuid)
        where t.thread_id = $1
        on conflict (run_id) do nothing returning 1
      )
      select count(*)::integer as added from added`),
  existing: readStatement<{ thread_id: string }>(
    'select thread_id from threads where thread_id = any ($1::uuid[])',
  ),
};

export type ThreadImportStorage = ReturnType<typeof threadImportStorage>;

export const threadImportStorage = (db: Database) => ({
  /**
   * Stores a thread in one transaction, to which `work` adds the checkpoints and runs. False when the id is taken; then nothing is changed.
   * `work` may be repeated.
   */
  import: (
    { thread_id, metadata, config, created_at, updated_at }: ThreadImport,
    work: (target: ImportTarget) => Promise<ImportedEnd>,
  ): Promise<boolean> =>
    db.transact(async (tx) => {
      const given = [thread_id, JSON.stringify(metadata), JSON.stringify(config), created_at, updated_at];
      if ((await tx.query(statements.create, given)).length === 0) return false;
      const { status, interrupts, error } = await work(targetOf(tx, thread_id));
      await tx.query(statements.end, [thread_id, status, interrupts, error]);
      return true;
    }),

  /** Which of these ids are taken. */
  async listExisting(thread_ids: string[]): Promise<string[]> {
    const rows = await db.query(statements.existing, [thread_ids]);
    return rows.map((row) => row.thread_id);
  },
});

const targetOf = (tx: Database, thread_id: string): ImportTarget => ({
  async store(batch) {
    const lost = await checkpointStorage(tx).commit(batch);
    if (lost.length > 0) throw new Error(`Checkpoints of thread ${thread_id} were not stored`);
  },
  async addRuns(runs) {
    const [row] = await tx.query(statements.runs, [thread_id, JSON.stringify(runs)]);
    return row?.added ?? 0;
  },
});
