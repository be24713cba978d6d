// What can be started from a checkpoint: its next nodes as they are, or with an edited state or input.
import { ApiError, type Client, type Run } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useId, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { refreshChanged } from '../api/refresh.ts';
import { useStillHere } from '../app/use-still-here.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { hasInput, nodeLabel } from './checkpoint-row.ts';
import { EditInput } from './edit-input.tsx';
import { EditState } from './edit-state.tsx';
import { type ChosenCheckpoint, type NewRun, runOptionsAt } from './run-at.ts';
import { useThreadAssistant } from './thread-queries.ts';

const route = getRouteApi('/threads/$threadId');

export const CheckpointActions = (chosen: ChosenCheckpoint): ReactNode => {
  const { thread, row, checkpointId, runId } = chosen;
  const navigate = route.useNavigate();
  const nextId = useId();
  const [isEditing, setEditing] = useState(false);
  const assistantId = useThreadAssistant(thread);
  const runAt = useRunAt({ threadId: thread.thread_id, runId, assistantId });
  const run = useMutation({ mutationFn: () => runAt({ checkpointId, input: null }) });
  const Editor = hasInput(row) ? EditInput : EditState;
  const isDone = row.next.length === 0;
  const edit = (): void => {
    // Without the id in the address, the page selects the newest checkpoint, and another run may create a newer one meanwhile.
    void navigate({ search: (search) => ({ ...search, checkpoint: checkpointId }), replace: true });
    setEditing(true);
  };
  return (
    <>
      <div className="row">
        <p className="muted" id={nextId}>
          next:{' '}
          {isDone ? 'no node, so there is nothing to run' : <code>{row.next.map(nodeLabel).join(', ')}</code>}
        </p>
        <div className="row spread">
          <Button aria-describedby={nextId} disabled={isDone || run.isPending} onClick={() => run.mutate()}>
            <Icon name="runs" size={14} /> Run from here
          </Button>
          <Button onClick={edit}>
            <Icon name="edit" size={14} /> {hasInput(row) ? 'Edit the input and run…' : 'Edit and run…'}
          </Button>
        </div>
      </div>
      <ErrorNotice error={run.error} />
      {isEditing && (
        <Editor chosen={chosen} assistantId={assistantId} runAt={runAt} onClose={() => setEditing(false)} />
      )}
    </>
  );
};

interface RunOrigin {
  threadId: string;
  /** The run that created the checkpoint. */
  runId: string | undefined;
  /** The assistant of the thread, for a checkpoint whose run cannot be read. */
  assistantId: string | undefined;
}

/** Starts a run at a checkpoint, and opens the playground, where it streams, unless the user has left the page. Rejects when the server refuses the run. */
const useRunAt = ({ threadId, runId, assistantId }: RunOrigin): ((run: NewRun) => Promise<void>) => {
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
