import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ApiError, type Client, type Run } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { refreshChanged } from '../api/refresh.ts';
import { useStillHere } from '../app/use-still-here.ts';
import { runOptionsAt, type NewRun } from './run-at.ts';

export interface RunOrigin {
  threadId: string;
  /** The run that created the checkpoint. */
  runId: string | undefined;
  /** The assistant of the thread, for a checkpoint whose run cannot be read. */
  assistantId: string | undefined;
}

/** Starts a run at a checkpoint, and opens the playground, where it streams, unless the user has left the page. Rejects when the server refuses the run. */
export const useRunAt = ({ threadId, runId, assistantId }: RunOrigin): ((run: NewRun) => Promise<void>) => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const isStillHere = useStillHere();
  return async (run) => {
    const origin = runId === undefined ? undefined : await findRun(client, threadId, runId);
    const assistant = origin?.assistant_id ?? assistantId;
    if (assistant === undefined) throw new Error('No assistant found for the graph of the thread.');
    const created = await client.runs.create(threadId, assistant, runOptionsAt(run, origin), {
      idempotencyKey: crypto.randomUUID(),
    });
    if (isStillHere())
      await navigate({
        to: '/playground',
        search: { assistant: created.assistant_id, thread: threadId, run: created.run_id },
      });
    void refreshChanged(queries);
  };
};

/** Undefined for a run that was deleted, such as that of a copied thread, or that the user may not read. */
const findRun = async (client: Client, threadId: string, runId: string): Promise<Run | undefined> => {
  try {
    return await client.runs.get(threadId, runId);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return undefined;
    throw error;
  }
};
