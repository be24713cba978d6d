// Runs: creation, cancellation and reads; leases are in run-leases.ts. Decisions under a lock are functions (schema/functions/runs).
import { type AnswerLimits, defaultAnswerLimits } from '../postgres/answer-limits.ts';
import { type BoundedPage, readPage } from '../postgres/bounded-page.ts';
import type { Database } from '../postgres/database.ts';
import { functionCall } from '../postgres/named-statement.ts';
import { runPasses, type RowFilter } from '../postgres/row-filter.ts';

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
  /** What the log stores for receivers in other processes. */
  log: RunAudience;
  attempt: number;
  lease_token: number;
  /** The worker that holds the lease. */
  worker_id: string | null;
  lost_attempts: LostAttempt[];
  created_at: string;
  updated_at: string;
}

/** What a run's log contains: nothing; the outcome; or all events and the outcome. */
export type RunAudience = 'nothing' | 'outcome' | 'events';

export interface LostAttempt {
  attempt: number;
  at: string;
  message: string;
  /** Absent in entries of earlier releases, which charged every attempt. */
  charged?: boolean;
  lease_token?: number;
  /** State of the worker that held the lease. */
  worker?: WorkerState;
}

/** `alive`: it has reported itself since the lease ended. `silent`: it has not. `gone`: it is unknown. */
export type WorkerState = 'alive' | 'silent' | 'gone';

export interface NewRun {
  run_id: string;
  /** Null for a run without a thread. */
  thread_id: string | null;
  assistant_id: string;
  metadata: Record<string, unknown>;
  kwargs: string;
  multitask_strategy: string;
  create_thread: boolean;
  /** Claim the run at once when its thread is free. */
  claim: boolean;
  leaseMs: number;
  delayMs: number;
  worker_id: string;
  /** What the log stores when the run does not start in this process. */
  log: RunAudience;
  /** The log stores all events, in whichever process the run executes. */
  resumable: boolean;
  webhook: string | null;
  /** The id may belong to an existing run, because of a repeated request. */
  keyed: boolean;
  /** Filters that the thread (existing or new) and the assistant must pass. */
  access: RowFilter;
  assistantAccess: RowFilter;
  /** The encrypted user of the run. */
  sealed_user: string | null;
  /** Graphs that this node executes; null allows a run of any graph. */
  graphs: readonly string[] | null;
  /** A run of another graph is accepted when a worker that executes the graph has reported itself within this time. */
  workerTtlMs: number;
}

/** A created run, with what an executor needs to know about its assistant and thread. */
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
  log: RunAudience;
}

export type CreatedRun =
  /** `stopping`: running runs of the thread that are cancelled in favour of this one. */
  | ({ outcome: 'created'; stopping: string[] } & RunSetting)
  | { outcome: 'exists'; thread_id: string }
  /** `no_graph`: no node executes it. */
  | { outcome: 'no_graph'; graph_id: string }
  /** `outside`: the thread or run that would be created would not pass its own filter. */
  | { outcome: 'no_assistant' | 'no_thread' | 'busy' | 'outside' };

export type CancelAction = 'interrupt' | 'rollback';

export interface Cancelled {
  run_id: string;
  /** `ended`: it was pending and has ended. `stopping`: its worker was notified. `over`: it had ended before. */
  outcome: 'ended' | 'stopping' | 'over';
}

/** Why a pending run waits. */
export interface Waiting {
  /** Earliest start; null when that time has passed. */
  not_before: string | null;
  /** The run on the thread that it waits for. */
  behind: string | null;
  graph_id: string;
  /** Live workers that accept runs, and how many of them execute this graph. */
  workers: number;
  workers_of_graph: number;
}

export const runColumns = `run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, temporary, error, log,
  attempt, lease_token, worker_id, lost_attempts, created_at, updated_at`;

const statements = {
  create: functionCall({
    name: 'runs_create',
    function: 'create_run',
    parameters: [
      'run_id',
      'thread_id',
      'assistant_id',
      'metadata',
      'kwargs',
      'strategy',
      'create_thread',
      'claim',
      'lease',
      'delay',
      'worker_id',
      'log',
      'resumable',
      'webhook',
      'keyed',
      'access',
      'assistant_access',
      'sealed_user',
      'graphs',
      'served_within',
    ],
    casts: {
      lease: `:lease * interval '1 ms'`,
      delay: `:delay * interval '1 ms'`,
      served_within: `:served_within * interval '1 ms'`,
    },
  }),
  cancel: { name: 'runs_cancel', text: 'select * from cancel_runs($1, $2, $3, $4, $5)' },
  follow: { name: 'runs_follow', text: 'select follow_run($1, $2, $3) as status' },
  states: {
    name: 'runs_states',
    reads: true,
    text: 'select run_id, thread_id, status, error, log, temporary from runs where run_id = any ($1::uuid[])',
  },
  waiting: {
    name: 'runs_waiting',
    reads: true,
    // A run that waits for its thread waits for the running run, or for the one that waits for a slot.
    text: `select case when r.not_before > now() then r.not_before end as not_before,
        case when r.waits_for = 'thread' then coalesce(
          (select o.run_id from runs o where o.thread_id = r.thread_id and o.status = 'running'),
          (select o.run_id from runs o
           where o.thread_id = r.thread_id and o.status = 'pending' and o.waits_for = 'slot' limit 1)) end as behind,
        a.graph_id, w.workers, w.workers_of_graph
      from runs r join assistants a using (assistant_id), lateral (
        select count(*)::integer as workers,
          (count(*) filter (where w.graphs is null or a.graph_id = any (w.graphs)))::integer as workers_of_graph
        from workers w where w.seen_at > now() - $2 * interval '1 ms' and not w.draining
      ) w
      where r.run_id = $1`,
  },
  listAllInFlight: {
    name: 'runs_all_in_flight',
    reads: true,
    text: `select r.run_id, r.thread_id from runs r
      where r.status = any ($1::text[]) and r.status in ('pending', 'running') and ${runPasses('$3')}
      order by r.created_at, r.run_id limit $2`,
  },
  next: {
    name: 'runs_next',
    reads: true,
    // A rolled back run has no row; then the creation time that the caller read earlier gives its position.
    text: `select n.run_id, n.status, n.created_at::text as created_at,
        exists (select 1 from run_events e where e.run_id = n.run_id) as has_log
      from threads t left join lateral (
        select r.run_id, r.status, r.created_at from runs r
        where r.thread_id = t.thread_id and ($2::uuid is null or (r.created_at, r.run_id) >
          (coalesce((select o.created_at from runs o where o.run_id = $2), $4::timestamptz), $2))
        order by r.created_at, r.run_id limit $5
      ) n on true
      where t.thread_id = $1 and t.metadata @@ $3::jsonpath
      order by n.created_at, n.run_id`,
  },
  current: {
    name: 'runs_current',
    reads: true,
    text: `select n.run_id, n.status, n.created_at::text as created_at
      from threads t left join lateral (
        select c.* from (
          (select r.run_id, r.status, r.created_at, 0 as place from runs r
           where r.thread_id = t.thread_id and r.status in ('pending', 'running')
           order by r.created_at, r.run_id limit 1)
          union all
          (select r.run_id, r.status, r.created_at, 1 as place from runs r
           where r.thread_id = t.thread_id order by r.created_at desc, r.run_id desc limit 1)
        ) c order by c.place limit 1
      ) n on true
      where t.thread_id = $1 and t.metadata @@ $2::jsonpath`,
  },
  get: {
    name: 'runs_get',
    reads: true,
    text: `select ${runColumns} from runs r where r.run_id = $1 and r.thread_id = $2 and ${runPasses('$3')}`,
  },
  find: {
    name: 'runs_find',
    reads: true,
    text: `select ${runColumns} from runs r where r.run_id = $1 and ${runPasses('$2')}`,
  },
  inFlight: {
    name: 'runs_in_flight',
    reads: true,
    text: `select run_id from runs where thread_id = $1 and status in ('pending', 'running') order by created_at, run_id`,
  },
  // Cancel requests for stateless runs that arrived while the run was ending.
  pruneCancels: {
    name: 'runs_prune_cancels',
    text: `delete from run_cancels c where c.run_id in (
        select o.run_id from run_cancels o
        where o.created_at < now() - interval '1 minute' and not exists (
          select 1 from runs r where r.run_id = o.run_id and r.status in ('pending', 'running'))
        order by o.created_at limit $1)`,
  },
  delete: { name: 'runs_delete', text: `select delete_run($1, $2, $3) as deleted` },
};

/** Columns of a run in a list; JSON is text. */
const listColumns = {
  run_id: 'r.run_id',
  thread_id: 'r.thread_id',
  assistant_id: 'r.assistant_id',
  created_at: 'r.created_at',
  updated_at: 'r.updated_at',
  status: 'r.status',
  metadata: 'r.metadata::text',
  multitask_strategy: 'r.multitask_strategy',
  kwargs: 'r.kwargs',
  attempt: 'r.attempt',
  lost_attempts: 'r.lost_attempts::text',
  error: 'r.error',
};

/** The selected columns, and the id. */
const listed = (select: readonly string[] | undefined) => {
  const columns = Object.fromEntries(
    Object.entries(listColumns).filter(([name]) => name === 'run_id' || (select?.includes(name) ?? true)),
  );
  const long = ['metadata', 'kwargs', 'lost_attempts', 'error'].filter((name) => name in columns);
  return { columns, long };
};

/** A run in a list: columns that were not selected are absent, and JSON is text. */
export type ListedRun = Partial<
  Omit<RunRow, 'metadata' | 'lost_attempts'> & { metadata: string; lost_attempts: string }
>;

/** A run and its position among the runs of its thread. */
export type PlacedRun = Pick<RunRow, 'run_id' | 'status' | 'created_at'>;

/** `has_log`: whether events of the run are stored. */
export type LoggedRun = PlacedRun & { has_log: boolean };

export type RunState = Pick<RunRow, 'run_id' | 'thread_id' | 'status' | 'error' | 'log' | 'temporary'>;

export type RunStorage = ReturnType<typeof runStorage>;

const runReads = (db: Database, answers: AnswerLimits) => ({
  states: (run_ids: string[]): Promise<RunState[]> => db.query<RunState>(statements.states, [run_ids]),

  async waiting(run_id: string, workerTtlMs: number): Promise<Waiting | undefined> {
    return (await db.query<Waiting>(statements.waiting, [run_id, workerTtlMs]))[0];
  },

  /** The next `limit` runs of the thread after a run, or the first ones; undefined when the thread does not exist. */
  async listNext(
    thread_id: string,
    after: Omit<PlacedRun, 'status'> | null,
    limit: number,
    access: RowFilter,
  ): Promise<LoggedRun[] | undefined> {
    const values = [thread_id, after?.run_id ?? null, access.jsonpath, after?.created_at ?? null, limit];
    const rows = await db.query<LoggedRun | { run_id: null }>(statements.next, values);
    if (rows.length === 0) return undefined;
    return rows.filter((row): row is LoggedRun => row.run_id !== null);
  },

  /**
   * The oldest run in flight on the thread, else its newest run; null when it has no runs, undefined when the thread does not exist.
   */
  async findCurrent(thread_id: string, access: RowFilter): Promise<PlacedRun | null | undefined> {
    const [row] = await db.query<PlacedRun | { run_id: null }>(statements.current, [
      thread_id,
      access.jsonpath,
    ]);
    return row?.run_id === null ? null : row;
  },

  /** Runs in flight of all threads, oldest first. */
  listAllInFlight: (
    statuses: string[],
    limit: number,
    access: RowFilter,
  ): Promise<{ run_id: string; thread_id: string }[]> =>
    db.query<{ run_id: string; thread_id: string }>(statements.listAllInFlight, [
      statuses,
      limit,
      access.jsonpath,
    ]),

  async find(run_id: string, thread_id: string | undefined, access: RowFilter): Promise<RunRow | undefined> {
    const [row] =
      thread_id === undefined
        ? await db.query<RunRow>(statements.find, [run_id, access.jsonpath])
        : await db.query<RunRow>(statements.get, [run_id, thread_id, access.jsonpath]);
    return row;
  },

  /** Newest first, with the selected columns. */
  list: (
    thread_id: string,
    page: {
      status?: string | undefined;
      select?: readonly string[] | undefined;
      limit: number;
      offset: number;
    },
    access: RowFilter,
  ): Promise<BoundedPage<ListedRun>> =>
    readPage<ListedRun>(db, {
      keys: {
        text: `select r.run_id, r.created_at from runs r
          where r.thread_id = $1 and ($2::text is null or r.status = $2) and ${runPasses('$5')}
          order by r.created_at desc, r.run_id desc limit $3 offset $4`,
        values: [thread_id, page.status ?? null, page.limit + 1, page.offset, access.jsonpath],
      },
      order: 'k.created_at desc, k.run_id desc',
      ...listed(page.select),
      from: 'runs r',
      where: 'r.run_id = k.run_id',
      limit: page.limit,
      answers,
    }),

  /** Ids of the thread's runs in flight, oldest first. */
  async listInFlight(thread_id: string): Promise<string[]> {
    return (await db.query<{ run_id: string }>(statements.inFlight, [thread_id])).map((row) => row.run_id);
  },
});

/** `sinceMs`: the monotonic time from which the run's lease counts, if it was claimed. */
const create = async (db: Database, run: NewRun): Promise<CreatedRun & { sinceMs: number }> => {
  let sinceMs = performance.now();
  const statement = { ...statements.create.statement, onSend: () => (sinceMs = performance.now()) };
  const values = statements.create.values({
    ...run,
    metadata: JSON.stringify(run.metadata),
    strategy: run.multitask_strategy,
    lease: run.leaseMs,
    delay: run.delayMs,
    access: run.access.jsonpath,
    assistant_access: run.assistantAccess.jsonpath,
    served_within: run.workerTtlMs,
  });
  const [row] = await db.query<CreatedRun>(statement, values);
  return { ...(row as CreatedRun), sinceMs };
};

/** Thrown inside the transaction of a batch to roll it back; carries the outcomes. */
class BatchRefused extends Error {
  readonly outcomes: CreatedRun[];

  constructor(outcomes: CreatedRun[]) {
    super('The batch was rolled back');
    this.outcomes = outcomes;
  }
}

/**
 * Creates all runs in one transaction. When one is refused, or only some of them exist, nothing is stored; then `outcomes` ends with
 * the refused run. `sinceMs`: the monotonic time from which their leases count.
 */
const createAll = async (
  db: Database,
  runs: NewRun[],
): Promise<{ outcomes: CreatedRun[]; isStored: boolean; sinceMs: number }> => {
  const sinceMs = performance.now();
  try {
    const outcomes = await db.transact(async (tx) => {
      const made: CreatedRun[] = [];
      for (const run of runs) {
        const { sinceMs: _, ...one } = await create(tx, run);
        made.push(one);
        if (one.outcome !== 'created' && one.outcome !== 'exists') throw new BatchRefused(made);
      }
      if (new Set(made.map(({ outcome }) => outcome)).size > 1) throw new BatchRefused(made);
      return made;
    });
    return { outcomes, isStored: true, sinceMs };
  } catch (error) {
    if (error instanceof BatchRefused) return { outcomes: error.outcomes, isStored: false, sinceMs };
    throw error;
  }
};

export const runStorage = (db: Database, answers = defaultAnswerLimits) => ({
  ...runReads(db, answers),

  create: (run: NewRun) => create(db, run),

  createAll: (runs: NewRun[]) => createAll(db, runs),

  /** Cancels all runs in flight on the thread, or the given runs. Returns the outcome of every run that exists. */
  cancel: (
    thread_id: string,
    run_ids: string[] | null,
    { action, reason, access }: { action: CancelAction; reason: string; access: RowFilter },
  ): Promise<Cancelled[]> =>
    db.query<Cancelled>(statements.cancel, [thread_id, run_ids, action, reason, access.jsonpath]),

  /**
   * Subscribes this process to a run: the run's log stores what `log` requests from now on. Returns the status of the run; undefined
   * when it does not exist. `nextId`: events before this id were already sent to readers, and may be in no log.
   */
  async follow(run_id: string, log: RunAudience, nextId = 0): Promise<RunRow['status'] | undefined> {
    const [row] = await db.query<{ status: RunRow['status'] | null }>(statements.follow, [
      run_id,
      log,
      nextId,
    ]);
    return row?.status ?? undefined;
  },

  /** Deletes cancel requests for runs that have ended. */
  async pruneCancels(limit: number): Promise<void> {
    await db.query(statements.pruneCancels, [limit]);
  },

  /** Deletes a run, and the checkpoints that no later run depends on. */
  async delete(
    run_id: string,
    thread_id: string,
    access: RowFilter,
  ): Promise<'deleted' | 'in_flight' | 'missing'> {
    const [row] = await db.query<{ deleted: 'deleted' | 'in_flight' | 'missing' }>(statements.delete, [
      run_id,
      thread_id,
      access.jsonpath,
    ]);
    return row?.deleted ?? 'missing';
  },
});
