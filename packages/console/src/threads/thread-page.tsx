import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Thread } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { MissingThread } from '../app/missing.tsx';
import { usePollMs } from '../live/live-runs.tsx';
import { useAssistants, useThread } from '../api/queries.ts';
import { StateView } from '../messages/state-view.tsx';
import { RunTable } from '../runs/run-table.tsx';
import { useStoredState } from '../stored/stored-queries.ts';
import { CopyId } from '../ui/copy-id.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { isBranch } from '../values/json-entries.ts';
import { visibleText } from '../values/visible-text.ts';
import { Checkpoints } from './checkpoints.tsx';
import { ExpirySummary } from './expiry.tsx';
import { OpenRuns } from './open-runs.tsx';
import { PruneResult, type Pruned } from './prune-dialog.tsx';
import { ThreadActions } from './thread-actions.tsx';
import { ThreadBadge } from './thread-badge.tsx';
import { ThreadDetails } from './thread-details.tsx';
import { useAsks } from './thread-queries.ts';

const route = getRouteApi('/threads/$threadId');

const tabs = [
  { name: 'chat', label: 'Conversation' },
  { name: 'checkpoints', label: 'Checkpoints' },
  { name: 'runs', label: 'Runs' },
  { name: 'details', label: 'Details' },
] as const;

export const ThreadPage = (): ReactNode => {
  const { threadId } = route.useParams();
  const query = useThread(threadId);
  return (
    <Loaded query={query} missing={MissingThread}>
      {(thread) => <ThreadView key={thread.thread_id} thread={thread} />}
    </Loaded>
  );
};

const ThreadView = ({ thread }: { thread: Thread }): ReactNode => {
  const { tab = 'chat' } = route.useSearch();
  const navigate = route.useNavigate();
  const { thread_id: threadId, status, metadata, ttl } = thread;
  const asks = useAsks(thread);
  const [pruned, setPruned] = useState<Pruned>();
  const graph = typeof metadata['graph_id'] === 'string' ? metadata['graph_id'] : '';
  return (
    <div className="page">
      <header className="page-head" data-tabs>
        <h1>Thread</h1>
        <CopyId id={threadId} label="thread id" />
        <ThreadBadge status={status} asks={asks} />
        <span className="muted">{visibleText(graph)}</span>
        <ExpirySummary ttl={ttl} />
        <ThreadActions thread={thread} onPruned={setPruned} />
      </header>
      <PruneResult pruned={pruned} />
      <Tabs
        label="Parts of the thread"
        tabs={tabs}
        active={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
      />
      {tab === 'chat' && <Chat thread={thread} />}
      {tab === 'checkpoints' && <Checkpoints thread={thread} />}
      {tab === 'runs' && <ThreadRuns threadId={threadId} />}
      {tab === 'details' && <ThreadDetails thread={thread} />}
    </div>
  );
};

const Chat = ({ thread }: { thread: Thread }): ReactNode => {
  const query = useStoredState(thread.thread_id, undefined, { isLive: thread.status === 'busy' });
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Conversation">
      {thread.status === 'busy' && <OpenRuns threadId={thread.thread_id} />}
      <Loaded query={query}>
        {(state) =>
          isBranch(state.values) && Object.keys(state.values).length > 0 ? (
            <StateView state={state} />
          ) : (
            <State icon="empty" title="The thread has no state yet">
              <p className="muted">No run has written to it.</p>
            </State>
          )
        }
      </Loaded>
    </div>
  );
};

const runsMax = 100;

const ThreadRuns = ({ threadId }: { threadId: string }): ReactNode => {
  const client = useClient();
  const assistants = useAssistants();
  const runs = useQuery({
    queryKey: ['runs', 'of', threadId],
    queryFn: ({ signal }) => client.runs.list(threadId, { limit: runsMax, signal }),
    refetchInterval: usePollMs(4_000),
  });
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Runs">
      <Loaded query={runs}>
        {(rows) =>
          rows.length === 0 ? (
            <State icon="empty" title="The thread has no runs" />
          ) : (
            <RunTable runs={rows} assistants={assistants.data ?? []} showsThread={false} />
          )
        }
      </Loaded>
    </div>
  );
};
