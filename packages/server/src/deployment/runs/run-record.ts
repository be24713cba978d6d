// A run as clients see it, as JSON text: its input may be large, and is text already.
import type { Run } from '@svc/contract';
import { JsonText, objectText } from '../../api/json-text.ts';
import type { RunRow, Waiting } from '../../storage/runs.ts';

export type RunFields = Omit<RunRow, 'lease_token' | 'worker_id' | 'log'>;

/** The fields of a run in a list; all of them when there is no selection. */
export type RunSelection = readonly string[] | undefined;

export const runText = (row: Partial<RunFields>, waiting?: Waiting, select?: RunSelection): string => {
  const { kwargs, error, lost_attempts } = row;
  const fields = {
    run_id: row.run_id,
    thread_id: row.thread_id,
    assistant_id: row.assistant_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    status: row.status,
    metadata: row.metadata,
    multitask_strategy: row.multitask_strategy,
    kwargs: asText(kwargs),
    attempt: row.attempt,
    lost_attempts: lost_attempts?.length === 0 ? undefined : lost_attempts,
    error: asText(error),
    waiting_for: waiting && waitingFor(waiting),
  } satisfies Record<keyof Run, unknown>;
  if (select === undefined) return objectText(fields);
  return objectText(Object.fromEntries(Object.entries(fields).filter(([name]) => select.includes(name))));
};

const asText = (text: string | null | undefined): JsonText | undefined =>
  text === null || text === undefined ? undefined : new JsonText(text);

/** What a pending run waits for. */
const waitingFor = ({ not_before, behind, workers }: Waiting): NonNullable<Run['waiting_for']> => {
  if (not_before !== null)
    return { reason: 'time', until: not_before, message: `The run may start at ${not_before}` };
  if (behind !== null)
    return { reason: 'thread', run_id: behind, message: `Run ${behind} is before it on the thread` };
  return workers === 0
    ? { reason: 'worker', message: 'There is no worker that takes runs at the moment' }
    : { reason: 'slot', message: 'Every slot of the workers is taken' };
};
