// A run as clients see it, as JSON text: large parts, such as the input, are stored as text.
import type { Run } from '@svc/contract';
import { JsonText, objectText } from '../../api/json-text.ts';
import type { ListedRun, LostAttempt, RunRow, Waiting } from '../../storage/deployment/runs/run-rows.ts';

export type RunFields = Omit<RunRow, 'lease_token' | 'worker_id' | 'log'>;

export const runText = (row: Partial<RunFields> | ListedRun, waiting?: Waiting): string =>
  objectText(membersOf(row, waiting));

/** The selected fields; all when `select` is absent. The row may have more columns, which the search needs. */
export const selectedRunText = (row: ListedRun, select?: readonly string[]): string =>
  objectText(
    Object.fromEntries(Object.entries(membersOf(row)).filter(([name]) => select?.includes(name) ?? true)),
  );

/** `row`: a row of a list has JSON as text. */
const membersOf = (row: Partial<RunFields> | ListedRun, waiting?: Waiting) =>
  ({
    run_id: row.run_id,
    thread_id: row.thread_id,
    assistant_id: row.assistant_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    started_at: row.started_at ?? undefined,
    ended_at: row.ended_at ?? undefined,
    status: row.status,
    metadata: jsonOf(row.metadata),
    multitask_strategy: row.multitask_strategy,
    kwargs: asText(row.kwargs),
    attempt: row.attempt,
    lost_attempts: attemptsOf(row.lost_attempts),
    error: errorText(row),
    cancel_reason: row.cancel_reason ?? undefined,
    waiting_for: waiting && waitingFor(waiting),
  }) satisfies Record<keyof Run, unknown>;

/** Omitted when there are none. */
const attemptsOf = (lost: string | LostAttempt[] | undefined): unknown =>
  lost === '[]' || lost?.length === 0 ? undefined : jsonOf(lost);

const jsonOf = (value: unknown): unknown => (typeof value === 'string' ? new JsonText(value) : value);

const asText = (text: string | null | undefined): JsonText | undefined =>
  text === null || text === undefined ? undefined : new JsonText(text);

const errorText = (row: Partial<RunFields> | ListedRun): JsonText | undefined => {
  const { error, error_stack: stack } = row;
  if (typeof error !== 'string' || typeof stack !== 'string') return asText(error);
  return new JsonText(objectText({ ...(JSON.parse(error) as object), stack: new JsonText(stack) }));
};

/** What a pending run waits for. */
const waitingFor = (waiting: Waiting): NonNullable<Run['waiting_for']> => {
  const { not_before, behind, workers, workers_of_graph, graph_id } = waiting;
  if (not_before !== null)
    return { reason: 'time', until: not_before, message: `The run may start at ${not_before}` };
  if (behind !== null)
    return { reason: 'thread', run_id: behind, message: `Waits for run ${behind} on the same thread` };
  if (waiting.awaits_answer)
    return { reason: 'answer', message: 'The run that answers the question of the thread takes the input' };
  if (workers === 0) return { reason: 'worker', message: 'No live worker accepts runs at the moment' };
  return workers_of_graph === 0
    ? { reason: 'worker', graph_id, message: `No live worker executes graph ${JSON.stringify(graph_id)}` }
    : { reason: 'slot', message: 'Every slot of the workers is taken' };
};
