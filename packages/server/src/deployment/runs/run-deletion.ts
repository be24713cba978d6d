// Deletes an ended run of a thread. While a flush writes to the thread, delete_run() raises an error, and is repeated after a pause.
import { notFound, Problem } from '@svc/contract/problem';
import { retry } from '../../backoff.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import { isLockTaken } from '../../storage/postgres/sql-state.ts';
import type { RunStorage } from '../../storage/deployment/runs/runs.ts';

export interface RunDeletionParts {
  runs: Pick<RunStorage, 'delete'>;
  /** Called before each repetition. */
  onRepeated: () => void;
  /** How long after the first failure it is repeated. */
  forMs?: number;
}

const pauseMs = { first: 10, max: 250 };
const defaultForMs = 10_000;

/** Throws when the run does not exist or has not ended, and `unavailable` when the thread is written to all the time. */
export const deleteRun = async (
  { thread_id, run_id }: { thread_id: string; run_id: string },
  access: RowFilter,
  { runs, onRepeated, forMs = defaultForMs }: RunDeletionParts,
): Promise<void> => {
  try {
    const outcome = await retry(() => runs.delete(run_id, thread_id, access), {
      pauseMs,
      forMs,
      when: isLockTaken,
      onError: onRepeated,
    });
    if (outcome === 'missing') throw notFound('Run', run_id);
    if (outcome === 'in_flight')
      throw new Problem('conflict', `Run ${run_id} has not ended. Cancel it, or wait for it`);
  } catch (error) {
    if (!isLockTaken(error)) throw error;
    const message = `Run ${run_id} could not be deleted, because another run writes to its thread. Try again`;
    throw new Problem('unavailable', message, { cause: error, retryAfterSeconds: 1 });
  }
};
