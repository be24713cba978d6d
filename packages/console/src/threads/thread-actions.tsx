import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Thread } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { useThreadAssistant } from './use-thread-assistant.ts';

export const ThreadActions = ({ thread }: { thread: Thread }): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const { thread_id: threadId } = thread;
  const assistant = useThreadAssistant(thread);
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
