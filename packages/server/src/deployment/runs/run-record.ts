// A run as clients see it.
import type { Run } from '@svc/contract';
import type { RunRow, Waiting } from '../../storage/runs.ts';

type RunFields = Omit<RunRow, 'lease_token' | 'worker_id' | 'log'>;

export const toRun = (row: RunFields, waiting?: Waiting): Run => {
  const { kwargs, error, attempt, lost_attempts } = row;
  return {
    run_id: row.run_id,
    thread_id: row.thread_id,
    assistant_id: row.assistant_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    status: row.status,
    metadata: row.metadata,
    multitask_strategy: row.multitask_strategy,
    kwargs: JSON.parse(kwargs),
    attempt,
    ...(lost_attempts.length === 0 ? {} : { lost_attempts }),
    ...(error === null ? {} : { error: JSON.parse(error) }),
    ...(waiting === undefined ? {} : { waiting_for: waitingFor(waiting) }),
  } as Run;
};

/** What a pending run waits for. */
const waitingFor = (waiting: Waiting): NonNullable<Run['waiting_for']> => {
  const { not_before, behind, workers, workers_of_graph, graph_id } = waiting;
  if (not_before !== null)
    return { reason: 'time', until: not_before, message: `The run may start at ${not_before}` };
  if (behind !== null)
    return { reason: 'thread', run_id: behind, message: `Run ${behind} is before it on the thread` };
  if (workers === 0) return { reason: 'worker', message: 'There is no worker that takes runs at the moment' };
  return workers_of_graph === 0
    ? { reason: 'worker', graph_id, message: `No live worker executes graph ${JSON.stringify(graph_id)}` }
    : { reason: 'slot', message: 'Every slot of the workers is taken' };
};
