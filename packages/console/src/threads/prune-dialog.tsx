// Deletes the earlier checkpoints of a thread, or the thread. The dialog first shows what will be deleted and what will stay.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useClient, useServerQuery } from '../api/client.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { SelectField } from '../ui/form-field.tsx';
import { countText } from '../ui/number-text.ts';

type Strategy = 'keep_latest' | 'delete';

/** Checkpoints before and after; undefined where they could not be counted. */
export interface Pruned {
  before: number | undefined;
  after: number | undefined;
}

const useStorage = (threadId: string) =>
  useServerQuery({
    queryKey: ['thread', threadId, 'storage'],
    read: (client, call) => client.threads.getStorage(threadId, call),
  });

export const PruneDialog = ({
  threadId,
  onPruned,
  onDeleted,
  onClose,
}: {
  threadId: string;
  onPruned: (pruned: Pruned) => void;
  onDeleted: () => Promise<void>;
  onClose: () => void;
}): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const [strategy, setStrategy] = useState<Strategy>('keep_latest');
  const storage = useStorage(threadId);
  const before = storage.data?.checkpoints.count;
  const prune = useMutation({
    mutationFn: () => client.threads.prune([threadId], { strategy }),
    onSuccess: async ({ pruned_count: count }) => {
      if (count === 0) return;
      if (strategy === 'delete') return onDeleted();
      const { data } = await storage.refetch();
      await queries.invalidateQueries({ queryKey: ['thread', threadId] });
      onPruned({ before, after: data?.checkpoints.count });
    },
  });
  return (
    <Confirm
      title="Prune this thread?"
      action={strategy === 'delete' ? 'Delete the thread' : 'Delete earlier checkpoints'}
      request={prune}
      onClose={onClose}
    >
      <SelectField
        label="Strategy"
        choices={[
          ['keep_latest', 'keep_latest: keep the current state'],
          ['delete', 'delete: delete the thread'],
        ]}
        value={strategy}
        onChange={(value) => {
          setStrategy(value as Strategy);
          prune.reset();
        }}
      />
      {strategy === 'delete' ? <Deleted /> : <Kept checkpoints={before} />}
      {prune.data?.pruned_count === 0 && (
        <p className="notice" data-tone="amber" role="alert">
          Nothing was pruned: the thread {strategy === 'keep_latest' && 'has a pending or running run, or '}
          does not exist any more.
        </p>
      )}
    </Confirm>
  );
};

const Kept = ({ checkpoints }: { checkpoints: number | undefined }): ReactNode => (
  <>
    <p>
      Its earlier checkpoints are deleted
      {checkpoints !== undefined && `; it has ${countText(checkpoints, 'checkpoint')} now`}. They can no
      longer be opened or forked, and the result of an earlier run becomes the newest state. This cannot be
      undone.
    </p>
    <p>
      Its current state with open questions, what its subgraphs need to continue, its runs, and all copies of
      the thread stay. A thread with a pending or running run is not pruned.
    </p>
  </>
);

const Deleted = (): ReactNode => (
  <p>
    Its pending and running runs are cancelled. Its state, its checkpoints and its runs are deleted with it.
    This cannot be undone. Copies of the thread stay.
  </p>
);

export const PruneResult = ({ pruned }: { pruned: Pruned | undefined }): ReactNode => (
  <div role="status">
    {pruned && (
      <p className="notice page-notice" data-tone="blue">
        {resultText(pruned)}
      </p>
    )}
  </div>
);

const resultText = ({ before, after }: Pruned): string => {
  if (before === undefined || after === undefined) return 'Pruned: the current state is kept.';
  if (before === after) return 'The thread has no earlier checkpoints: nothing was deleted.';
  return `Pruned: the current state is kept, with ${after} of ${countText(before, 'checkpoint')}.`;
};
