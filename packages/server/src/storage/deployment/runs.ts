// Runs: creation, cancelling, and reads; leases are in run-leases.ts. Decisions under a lock are functions (schema/functions/runs).
import { type AnswerLimits, defaultAnswerLimits } from '../postgres/answer-limits.ts';
import { type BoundedPage, readPage } from '../postgres/bounded-page.ts';
import type { Database } from '../postgres/database.ts';
import { withNames } from '../postgres/named-parameters.ts';
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
  /** What others than the executing process are told. */
  log: RunAudience;
  attempt: number;
  lease_token: number;
  /** Who holds the lease. */
  worker_id: string | null;
  lost_attempts: LostAttempt[];
  created_at: string;
  updated_at: string;
}

/** Whom a run is told to beside the process that executes it. */
export type RunAudience = 'nothing' | 'outcome' | 'events';

export interface LostAttempt {
  attempt: number;
  at: string;
  message: string;
  /** Absent in what an earlier release recorded: charged. */
  charged?: boolean;
  lease_token?: number;
  /** What was known of the worker whose lease it was. */
  worker?: WorkerState;
}

/** `alive`: it has reported itself since the lease ended. `silent`: not since. `gone`: it is not known. */
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
  /** Take the lease at once when the thread is free. */
  claim: boolean;
  leaseMs: number;
  delayMs: number;
  worker_id: string;
  /** What to tell whom when the run does not start here. */
  log: RunAudience;
  /** Its events are kept from the first one on, wherever it runs. */
  resumable: boolean;
  webhook: string | null;
  /** The id may have been used for the same run before. */
  keyed: boolean;
  /** What the thread must pass, be it there or made; and the assistant. */
  access: RowFilter;
  assistantAccess: RowFilter;
  /** Whom the run acts for. */
  sealed_user: string | null;
  /** Graphs that this node knows; null takes a run of any graph. */
  graphs: readonly string[] | null;
  /** A run of another graph is taken when a worker that executes it reported itself this recently. */
  workerTtlMs: number;
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
  log: RunAudience;
}

export type CreatedRun =
  /** `stopping`: runs of the thread that execute and make way. */
  | ({ outcome: 'created'; stopping: string[] } & RunSetting)
  | { outcome: 'exists'; thread_id: string }
  /** `no_graph`: no node executes it. */
  | { outcome: 'no_graph'; graph_id: string }
  /** `outside`: what would be made would not pass its own filter. */
  | { outcome: 'no_assistant' | 'no_thread' | 'busy' | 'outside' };

export type CancelAction = 'interrupt' | 'rollback';

export interface Cancelled {
  run_id: string;
  /** `ended` at once; `stopping`: its worker has been told; `over` before. */
  outcome: 'ended' | 'stopping' | 'over';
}

/** Why a pending run waits. */
export interface Waiting {
  /** When it may start; null when that has passed. */
  not_before: string | null;
  /** The run that is before it on the thread. */
  behind: string | null;
  graph_id: string;
  /** Live workers that take runs, and those of them that execute this graph. */
  workers: number;
  workers_of_graph: number;
}

export const runColumns = `run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, temporary, error, log,
  attempt, lease_token, worker_id, lost_attempts, created_at, updated_at`;

interface CreateRun extends Omit<NewRun, 'metadata' | 'access'> {
  metadata: string;
  access: string;
  assistant_access: string;
}

const createRun = withNames<CreateRun>(
  'runs_create',
  `select * from create_run(p_run_id => $run_id, p_thread_id => $thread_id, p_assistant_id => $assistant_id,
    p_metadata => $metadata, p_kwargs => $kwargs, p_strategy => $multitask_strategy, p_create_thread => $create_thread,
    p_claim => $claim, p_lease => $leaseMs * interval '1 ms', p_delay => $delayMs * interval '1 ms',
    p_worker_id => $worker_id, p_log => $log, p_resumable => $resumable, p_webhook => $webhook, p_keyed => $keyed,
    p_access => $access, p_assistant_access => $assistant_access, p_sealed_user => $sealed_user, p_graphs => $graphs,
    p_served_within => $workerTtlMs * interval '1 ms')`,
);

const statements = {
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
    // A thread that a run waits for has one that runs, or one that waits for a slot.
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
    // A run that was rolled back has left no row: then the time that was read with it says where it was.
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
  // A wish to cancel that came for a run without a thread just when it ended.
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

/** What is selected of a run. */
const listed = (select: readonly string[] | undefined) => {
  const columns = Object.fromEntries(
    Object.entries(listColumns).filter(([name]) => name === 'run_id' || (select?.includes(name) ?? true)),
  );
  const long = ['metadata', 'kwargs', 'lost_attempts', 'error'].filter((name) => name in columns);
  return { columns, long };
};

/** A run in a list: what is not selected is absent, and JSON is text. */
export type ListedRun = Partial<
  Omit<RunRow, 'metadata' | 'lost_attempts'> & { metadata: string; lost_attempts: string }
>;

/** Where a run stands among those of its thread. */
export type PlacedRun = Pick<RunRow, 'run_id' | 'status' | 'created_at'>;

/** `has_log`: false for a run without stored events. */
export type LoggedRun = PlacedRun & { has_log: boolean };

export type RunState = Pick<RunRow, 'run_id' | 'thread_id' | 'status' | 'error' | 'log' | 'temporary'>;

export type RunStorage = ReturnType<typeof runStorage>;

const runReads = (db: Database, answers: AnswerLimits) => ({
  states: (run_ids: string[]): Promise<RunState[]> => db.query<RunState>(statements.states, [run_ids]),

  async waiting(run_id: string, workerTtlMs: number): Promise<Waiting | undefined> {
    return (await db.query<Waiting>(statements.waiting, [run_id, workerTtlMs]))[0];
  },

  /** The next `limit` runs of the thread after this one, or the first ones; undefined when there is no thread. */
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
   * The oldest run of the thread that is pending or running, else its newest run; null when it has none, undefined
   * when there is no thread.
   */
  async findCurrent(thread_id: string, access: RowFilter): Promise<PlacedRun | null | undefined> {
    const [row] = await db.query<PlacedRun | { run_id: null }>(statements.current, [
      thread_id,
      access.jsonpath,
    ]);
    return row?.run_id === null ? null : row;
  },

  /** Of all threads, oldest first. */
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

  /** Newest first; of each run the fields that are selected. */
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

  /** Ids of the thread's runs that run or wait, oldest first. */
  async listInFlight(thread_id: string): Promise<string[]> {
    return (await db.query<{ run_id: string }>(statements.inFlight, [thread_id])).map((row) => row.run_id);
  },
});

/** `sinceMs`: the monotonic time from which its lease counts, if it has one. */
const create = async (db: Database, run: NewRun): Promise<CreatedRun & { sinceMs: number }> => {
  let sinceMs = performance.now();
  const values = createRun.values({
    ...run,
    metadata: JSON.stringify(run.metadata),
    access: run.access.jsonpath,
    assistant_access: run.assistantAccess.jsonpath,
  });
  const statement = { ...createRun.statement, onSend: () => (sinceMs = performance.now()) };
  const [row] = await db.query<CreatedRun>(statement, values);
  return { ...(row as CreatedRun), sinceMs };
};

/** Rolls back a batch, and carries its outcomes out of the transaction. */
class BatchRefused extends Error {
  readonly outcomes: CreatedRun[];

  constructor(outcomes: CreatedRun[]) {
    super('The batch was rolled back');
    this.outcomes = outcomes;
  }
}

/**
 * Creates all runs in one transaction. When one is refused, or when only some of them exist, nothing is stored; the list of
 * outcomes ends with the first refused run. `sinceMs`: the monotonic time from which their leases count.
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

  /** All runs in flight on the thread, or those named; of those that are there, what became of each. */
  cancel: (
    thread_id: string,
    run_ids: string[] | null,
    { action, reason, access }: { action: CancelAction; reason: string; access: RowFilter },
  ): Promise<Cancelled[]> =>
    db.query<Cancelled>(statements.cancel, [thread_id, run_ids, action, reason, access.jsonpath]),

  /**
   * From now on this process is told of the run. Its status; undefined when there is none. `nextId`: events before it
   * have been told, and may be in no log.
   */
  async follow(run_id: string, log: RunAudience, nextId = 0): Promise<RunRow['status'] | undefined> {
    const [row] = await db.query<{ status: RunRow['status'] | null }>(statements.follow, [
      run_id,
      log,
      nextId,
    ]);
    return row?.status ?? undefined;
  },

  /** Forgets wishes to cancel what is over. */
  async pruneCancels(limit: number): Promise<void> {
    await db.query(statements.pruneCancels, [limit]);
  },

  /** Removes a run and the checkpoints that it alone made. Says whether there was one, and whether it was still going. */
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
