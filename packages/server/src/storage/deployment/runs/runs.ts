// Runs: creation, reads, cancellation and deletion; leases are in run-leases.ts. Decisions under a lock are functions
// (schema/functions/runs).
import { type AnswerLimits, defaultAnswerLimits } from '../../postgres/answer-limits.ts';
import { passesAsRun, type RowFilter, runPasses } from '../../postgres/row-filter.ts';
import { createRun, groupedCreation } from './run-creation.ts';
import { runFigures } from './run-figures.ts';
import { runSearch } from './run-search.ts';
import { runSequence } from './run-sequence.ts';
import { runTimeline } from './run-timeline.ts';
import {
  type CancelAction,
  type Cancelled,
  type CreatedRun,
  listed,
  type ListedRun,
  type LoggedRun,
  type NewRun,
  type PlacedRun,
  type RunAudience,
  runColumns,
  type RunRow,
  type RunState,
  type Waiting,
} from './run-rows.ts';
import { readStatement, statement } from '../../postgres/statement.ts';
import { type BoundedPage, readPage } from '../../postgres/bounded-page.ts';
import type { Database } from '../../postgres/database.ts';
import { all, select, sql } from '../../postgres/sql.ts';

/** Runs that one read returns. */
const changedMax = 2_000;

// `updated_at` is the time at which a transaction began; the change is visible when the transaction has committed. So reads overlap, and a change
// of a transaction that takes longer than this is missed.
const since = `now() - interval '10 s'`;
const branch = (condition: string, time: string): string =>
  `(select r.run_id, r.updated_at, r.attempt from runs r where ${condition} and r.${time} > ${since} order by r.${time} desc limit ${changedMax})`;

export const statements = {
  cancel: statement<Cancelled>('select * from cancel_runs($1, $2, $3, $4, $5)'),
  follow: statement<{ status: RunRow['status'] | null }>('select follow_run($1, $2, $3) as status'),
  // Cancel requests for stateless runs that arrived while the run was ending.
  pruneCancels: statement(`delete from run_cancels c where c.run_id in (
        select o.run_id from run_cancels o
        where o.created_at < now() - interval '1 minute' and not exists (
          select 1 from runs r where r.run_id = o.run_id and r.status in ('pending', 'running'))
        order by o.created_at limit $1)`),
  delete: statement<{ deleted: 'deleted' | 'in_flight' | 'missing' }>(
    `select delete_run($1, $2, $3) as deleted`,
  ),
  states: readStatement<RunState>(
    'select run_id, thread_id, status, error, log, temporary from runs where run_id = any ($1::uuid[])',
  ),
  // A run that waits for its thread waits for the running run, or for the one that waits for a slot.
  waiting: readStatement<Waiting>(`select case when r.not_before > now() then r.not_before end as not_before,
        case when r.waits_for = 'thread' then coalesce(
          (select o.run_id from runs o where o.thread_id = r.thread_id and o.status = 'running'),
          (select o.run_id from runs o
           where o.thread_id = r.thread_id and o.status = 'pending' and o.waits_for = 'slot' limit 1)) end as behind,
        r.waits_for is not distinct from 'answer' as awaits_answer,
        a.graph_id, w.workers, w.workers_of_graph
      from runs r join assistants a using (assistant_id), lateral (
        select count(*)::integer as workers,
          (count(*) filter (where a.graph_id = any (w.graphs)))::integer as workers_of_graph
        from workers w where w.seen_at > now() - $2 * interval '1 ms' and not w.draining
      ) w
      where r.run_id = $1`),
  listAllInFlight: readStatement<{
    run_id: string;
    thread_id: string;
  }>(`select r.run_id, r.thread_id from runs r
      where r.status = any ($1::text[]) and r.status in ('pending', 'running') and ${runPasses('$3')}
      order by r.created_at, r.run_id limit $2`),
  // A rolled back run has no row; then the creation time that the caller read earlier gives its position.
  next: readStatement<
    LoggedRun | { run_id: null }
  >(`select n.run_id, n.status, n.created_at::text as created_at,
        exists (select 1 from run_events e where e.run_id = n.run_id) as has_log
      from threads t left join lateral (
        select r.run_id, r.status, r.created_at from runs r
        where r.thread_id = t.thread_id and ($2::uuid is null or (r.created_at, r.run_id) >
          (coalesce((select o.created_at from runs o where o.run_id = $2), $4::timestamptz), $2))
        order by r.created_at, r.run_id limit $5
      ) n on true
      where t.thread_id = $1 and t.metadata @@ $3::jsonpath
      order by n.created_at, n.run_id`),
  // A run that waits for its time may start much later.
  starting: readStatement<{ is_starting: boolean }>(`select exists (
        select 1 from runs r where r.thread_id = $1 and r.status in ('pending', 'running') and r.run_id is distinct from $2::uuid
          and (r.first_seq is not null or r.waits_for is null or r.waits_for in ('thread', 'slot'))) as is_starting`),
  current: readStatement<
    PlacedRun | { run_id: null }
  >(`select n.run_id, n.status, n.created_at::text as created_at
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
      where t.thread_id = $1 and t.metadata @@ $2::jsonpath`),
  get: readStatement<RunRow>(
    `select ${runColumns}, error_stack from runs r where r.run_id = $1 and r.thread_id = $2 and ${runPasses('$3')}`,
  ),
  find: readStatement<RunRow>(`select ${runColumns} from runs r where r.run_id = $1 and ${runPasses('$2')}`),
  inFlight: readStatement<{ run_id: string }>(
    `select run_id from runs where thread_id = $1 and status in ('pending', 'running') order by created_at, run_id`,
  ),
  // The index runs_settled has no running runs, which are at most as many as slots, and no runs that were never claimed, which have not
  // changed since their creation.
  changed: readStatement<ChangedRun>(`select c.run_id, c.updated_at || ' ' || c.attempt as version from (
        ${branch(`r.status <> 'running' and (r.status <> 'pending' or r.lease_token > 0)`, 'updated_at')}
        union all ${branch(`r.status = 'running'`, 'updated_at')}
        union all ${branch(`r.status = 'pending' and r.lease_token = 0`, 'created_at')}
      ) c order by c.updated_at desc limit ${changedMax}`),
};

export type RunStorage = ReturnType<typeof runStorage>;

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
        const { sinceMs: _, ...one } = await createRun(tx, run);
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

const runReads = (db: Database, answers: AnswerLimits) => ({
  states: (run_ids: string[]): Promise<RunState[]> => db.query(statements.states, [run_ids]),

  async waiting(run_id: string, workerTtlMs: number): Promise<Waiting | undefined> {
    return (await db.query(statements.waiting, [run_id, workerTtlMs]))[0];
  },

  /** The next `limit` runs of the thread after a run, or the first ones; undefined when the thread does not exist. */
  async listNext(
    thread_id: string,
    after: Omit<PlacedRun, 'status'> | null,
    limit: number,
    access: RowFilter,
  ): Promise<LoggedRun[] | undefined> {
    const values = [thread_id, after?.run_id ?? null, access.jsonpath, after?.created_at ?? null, limit];
    const rows = await db.query(statements.next, values);
    if (rows.length === 0) return undefined;
    return rows.filter((row): row is LoggedRun => row.run_id !== null);
  },

  /**
   * The oldest run in flight on the thread, else its newest run; null when it has no runs, undefined when the thread does not exist.
   */
  async findCurrent(thread_id: string, access: RowFilter): Promise<PlacedRun | null | undefined> {
    const [row] = await db.query(statements.current, [thread_id, access.jsonpath]);
    return row?.run_id === null ? null : row;
  },

  /** Whether a run other than this one, which has made the newest checkpoint, is in flight on the thread. */
  async isStarting(thread_id: string, run_id: string | null): Promise<boolean> {
    const [row] = await db.query(statements.starting, [thread_id, run_id]);
    return row?.is_starting === true;
  },

  /** Runs in flight of all threads, oldest first. */
  listAllInFlight: (
    statuses: string[],
    limit: number,
    access: RowFilter,
  ): Promise<{ run_id: string; thread_id: string }[]> =>
    db.query(statements.listAllInFlight, [statuses, limit, access.jsonpath]),

  async find(run_id: string, thread_id: string | undefined, access: RowFilter): Promise<RunRow | undefined> {
    const [row] =
      thread_id === undefined
        ? await db.query(statements.find, [run_id, access.jsonpath])
        : await db.query(statements.get, [run_id, thread_id, access.jsonpath]);
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
    return (await db.query(statements.inFlight, [thread_id])).map((row) => row.run_id);
  },
});

export interface ChangedRun {
  run_id: string;
  /** Differs after every change of the run. */
  version: string;
}

const runChanges = (db: Database) => ({
  /** The newest changes of the runs of all users, so they are never sent. */
  listChanged: (): Promise<ChangedRun[]> => db.query(statements.changed, []),

  /** The threads of the given runs that pass the filter; at most `limit`. */
  async listThreads(run_ids: readonly string[], access: RowFilter, limit: number): Promise<string[]> {
    const condition = all([sql`r.run_id = any (${run_ids}::uuid[])`, ...passesAsRun(access)]);
    const rows = await select<{ thread_id: string }>(
      db,
      sql`select distinct r.thread_id from runs r where ${condition} limit ${limit}`,
    );
    return rows.map(({ thread_id }) => thread_id);
  },
});

export const runStorage = (db: Database, answers = defaultAnswerLimits, creation = groupedCreation(db)) => ({
  ...runReads(db, answers),
  ...runSearch(db, answers),
  ...runChanges(db),
  ...runFigures(db),
  ...runTimeline(db),
  ...runSequence(db),

  create: (run: NewRun) => creation.write(run),

  createAll: (runs: NewRun[]) => createAll(db, runs),

  /** Cancels all runs in flight on the thread, or the given runs. Returns the outcome of every run that exists. */
  cancel: (
    thread_id: string,
    run_ids: string[] | null,
    { action, reason, access }: { action: CancelAction; reason: string; access: RowFilter },
  ): Promise<Cancelled[]> =>
    db.query(statements.cancel, [thread_id, run_ids, action, reason, access.jsonpath]),

  /**
   * Subscribes this process to a run: the run's log stores what `log` requests from now on. Returns the status of the run; undefined
   * when it does not exist. `nextId`: events before this id were already sent to readers, and may be in no log.
   */
  async follow(run_id: string, log: RunAudience, nextId = 0): Promise<RunRow['status'] | undefined> {
    const [row] = await db.query(statements.follow, [run_id, log, nextId]);
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
    const [row] = await db.query(statements.delete, [run_id, thread_id, access.jsonpath]);
    return row?.deleted ?? 'missing';
  },
});
