// Runs: creation, cancellation and deletion; reads are in run-reads.ts, leases in run-leases.ts. Decisions under a lock are functions
// (schema/functions/runs).
import { defaultAnswerLimits } from '../postgres/answer-limits.ts';
import type { Database } from '../postgres/database.ts';
import type { RowFilter } from '../postgres/row-filter.ts';
import { runChanges } from './run-changes.ts';
import { createRun, groupedCreation } from './run-creation.ts';
import { runFigures } from './run-figures.ts';
import { runReads } from './run-reads.ts';
import { runSearch } from './run-search.ts';
import { runSequence } from './run-sequence.ts';
import { runTimeline } from './run-timeline.ts';
import type { CancelAction, Cancelled, CreatedRun, NewRun, RunAudience, RunRow } from './run-rows.ts';
import { statement } from '../postgres/statement.ts';

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
