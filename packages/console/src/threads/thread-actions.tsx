import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Thread } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice } from '../ui/states.tsx';

/** The assistant that the thread was used with; that of the graph when the thread does not name one. */
const useAssistantOf = ({ metadata }: Thread): string | undefined => {
  const assistants = useAssistants();
  const { assistant_id: id, graph_id: graph } = metadata;
  const known = assistants.data?.find((one) => one.assistant_id === id || one.graph_id === graph);
  return typeof id === 'string' ? id : known?.assistant_id;
};

export const ThreadActions = ({ thread }: { thread: Thread }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const { thread_id: threadId } = thread;
  const assistant = useAssistantOf(thread);
  const refresh = () => queries.invalidateQueries({ queryKey: ['threads'] });
  const copy = useMutation({
    mutationFn: () => client.threads.copy(threadId),
    onSuccess: async (created) => {
      await refresh();
      await navigate({ to: '/threads/$threadId', params: { threadId: created.thread_id } });
    },
  });
  const remove = useMutation({
    mutationFn: () => client.threads.delete(threadId),
    onSuccess: async () => {
      await navigate({ to: '/threads' });
      queries.removeQueries({ queryKey: ['thread', threadId] });
      await refresh();
    },
  });
  return (
    <>
      <div className="page-actions">
        <Link className="button" to="/playground" search={{ assistant, thread: threadId }}>
          <Icon name="playground" size={14} /> Open in the playground
        </Link>
        <button type="button" className="button" disabled={copy.isPending} onClick={() => copy.mutate()}>
          <Icon name="copy" size={14} /> Copy
        </button>
        <button type="button" className="button" data-kind="danger" onClick={() => setAsking(true)}>
          <Icon name="trash" size={14} /> Delete…
        </button>
      </div>
      <ErrorNotice error={copy.error} />
      {isAsking && (
        <Confirm
          title="Delete this thread?"
          action="Delete the thread"
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        >
          <p>
            Its state, its checkpoints and its runs are deleted with it. This cannot be undone. Copies of the
            thread stay.
          </p>
          <ErrorNotice error={remove.error} />
        </Confirm>
      )}
    </>
  );
};
