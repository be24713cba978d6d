// What can be started from a checkpoint: its next nodes as they are, or with an edited state or input.
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useId, useState, type ReactNode } from 'react';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import type { ChosenCheckpoint } from './checkpoint-editor.ts';
import { hasInput, nodeLabel } from './checkpoint-row.ts';
import { EditInput } from './edit-input.tsx';
import { EditState } from './edit-state.tsx';
import { useRunAt } from './use-run-at.ts';
import { useThreadAssistant } from './use-thread-assistant.ts';

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
          <button
            type="button"
            className="button"
            aria-describedby={nextId}
            disabled={isDone || run.isPending}
            onClick={() => run.mutate()}
          >
            <Icon name="runs" size={14} /> Run from here
          </button>
          <button type="button" className="button" onClick={edit}>
            <Icon name="edit" size={14} /> {hasInput(row) ? 'Edit the input and run…' : 'Edit and run…'}
          </button>
        </div>
      </div>
      <ErrorNotice error={run.error} />
      {isEditing && (
        <Editor chosen={chosen} assistantId={assistantId} runAt={runAt} onClose={() => setEditing(false)} />
      )}
    </>
  );
};
