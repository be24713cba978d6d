// The checkpoint that the address names, also if the list has not loaded it; the newest one by default.
import { type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiError, type Thread } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { ErrorNotice, Loaded, State } from '../ui/states.tsx';
import { CheckpointDetail } from './checkpoint-detail.tsx';
import { nameOf, rowFields, runIdOf, type CheckpointRow, type RowsById } from './checkpoint-row.ts';

/** `listed`: its row in the list. It stays when newer checkpoints push it out of the loaded pages. */
const useRow = (
  threadId: string,
  checkpointId: string,
  listed: CheckpointRow | undefined,
): UseQueryResult<CheckpointRow> =>
  useServerQuery<CheckpointRow>({
    queryKey: ['thread', threadId, 'state', 'row', checkpointId],
    read: (client, call) =>
      client.threads.getState(threadId, { checkpointId, select: [...rowFields], ...call }),
    enabled: listed === undefined,
    ...(listed && { initialData: listed }),
  });

export const SelectedCheckpoint = ({
  thread,
  checkpointId,
  rows,
}: {
  thread: Thread;
  checkpointId: string;
  rows: RowsById;
}): ReactNode => {
  const listed = rows.get(checkpointId);
  const query = useRow(thread.thread_id, checkpointId, listed);
  const row = listed ?? query.data;
  if (!row)
    return (
      <section className="split-detail" aria-label="Checkpoint">
        <Loaded query={query} missing={Missing}>
          {() => null}
        </Loaded>
      </section>
    );
  return (
    <CheckpointDetail
      thread={thread}
      row={row}
      name={nameOf(row, rows.get(row.parent_checkpoint_id))}
      runId={runIdOf(row, rows)}
      // What was read before stays, and with it the draft of an open dialog.
      notice={!listed && <ReadNotice error={query.error} />}
    />
  );
};

const Newest = (): ReactNode => (
  <Link
    from="/threads/$threadId"
    to="."
    search={(search) => ({ ...search, checkpoint: undefined })}
    replace
    className="button"
  >
    Show the newest
  </Link>
);

const Missing = (): ReactNode => (
  <State icon="empty" title="Not found">
    <p className="muted" role="alert">
      The thread has no checkpoint with the id in the address. It may have been pruned.
    </p>
    <Newest />
  </State>
);

const ReadNotice = ({ error }: { error: Error | null }): ReactNode =>
  error instanceof ApiError && error.status === 404 ? (
    <div className="notice" data-tone="amber" role="alert">
      This checkpoint no longer exists. <Newest />
    </div>
  ) : (
    <ErrorNotice error={error} />
  );
