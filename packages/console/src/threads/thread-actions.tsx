import type { Thread } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { CodeButton } from '../app/code-button.tsx';
import { useStillHere } from '../app/use-still-here.ts';
import { Button } from '../ui/button.tsx';
import { type ButtonRequest, DeleteButton } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { type Pruned, PruneDialog } from './prune-dialog.tsx';
import { useThreadAssistant } from './thread-queries.ts';
import { TtlDialog } from './ttl-dialog.tsx';

export const ThreadActions = ({
  thread,
  onPruned,
}: {
  thread: Thread;
  onPruned: (pruned: Pruned) => void;
}): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const isStillHere = useStillHere();
  const [asked, setAsked] = useState<'prune' | 'ttl'>();
  const { thread_id: threadId } = thread;
  const assistant = useThreadAssistant(thread);
  const refresh = () => queries.invalidateQueries({ queryKey: ['threads'] });
  const copy = useMutation({
    mutationFn: () => client.threads.copy(threadId),
    onSuccess: async (created) => {
      await refresh();
      if (isStillHere())
        await navigate({ to: '/threads/$threadId', params: { threadId: created.thread_id } });
    },
  });
  const leave = async (): Promise<void> => {
    if (isStillHere()) await navigate({ to: '/threads' });
    queries.removeQueries({ queryKey: ['thread', threadId] });
    await refresh();
  };
  const remove = useMutation({ mutationFn: () => client.threads.delete(threadId), onSuccess: leave });
  const close = (): void => setAsked(undefined);
  return (
    <>
      <div className="page-actions">
        <CodeButton
          call={{
            method: 'GET',
            path: `/threads/${threadId}`,
            sdk: { name: 'threads.get', args: [threadId] },
          }}
        />
        <Link className="button" to="/playground" search={{ assistant, thread: threadId }}>
          <Icon name="playground" size={14} /> Open in the playground
        </Link>
        <Button disabled={copy.isPending} onClick={() => copy.mutate()}>
          <Icon name="copy" size={14} /> Copy
        </Button>
        <Button onClick={() => setAsked('ttl')}>
          <Icon name="crons" size={14} /> Time to live…
        </Button>
        <Button onClick={() => setAsked('prune')}>
          <Icon name="cut" size={14} /> Prune…
        </Button>
        <DeleteThread request={remove} />
      </div>
      <ErrorNotice error={copy.error} />
      {asked === 'ttl' && <TtlDialog thread={thread} onClose={close} />}
      {asked === 'prune' && (
        <PruneDialog
          threadId={threadId}
          onPruned={(result) => {
            onPruned(result);
            close();
          }}
          onDeleted={leave}
          onClose={close}
        />
      )}
    </>
  );
};

const DeleteThread = ({ request }: { request: ButtonRequest }): ReactNode => (
  <DeleteButton title="Delete this thread?" action="Delete the thread" request={request}>
    <p>
      Its state, its checkpoints and its runs are deleted with it. This cannot be undone. Copies of the thread
      stay.
    </p>
  </DeleteButton>
);
