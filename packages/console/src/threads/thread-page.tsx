import type { Thread } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { useThread } from '../api/queries.ts';
import { MissingThread } from '../app/missing.tsx';
import { usePollMs } from '../live/live-runs.tsx';
import { StateView } from '../messages/state-view.tsx';
import { RunTable } from '../runs/run-table.tsx';
import { useStoredState } from '../stored/stored-queries.ts';
import { CopyId } from '../ui/copy.tsx';
import { Fact } from '../ui/panel.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Moment } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { isBranch } from '../values/json-entries.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { MetadataChips } from '../values/metadata-chips.tsx';
import { Checkpoints } from './checkpoints.tsx';
import { type Pruned, PruneResult } from './prune-dialog.tsx';
import { ThreadActions } from './thread-actions.tsx';
import { ThreadBadge } from './thread-badge.tsx';
import { ThreadNotice } from './thread-notice.tsx';
import { ownerOf } from './thread-filter.ts';
import { useAsks } from './thread-queries.ts';
import { Expiry, ExpirySummary } from './ttl-dialog.tsx';

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
      {tab === 'chat' && <Chat thread={thread} asks={asks} />}
      {tab === 'checkpoints' && <Checkpoints thread={thread} />}
      {tab === 'runs' && <ThreadRuns threadId={threadId} />}
      {tab === 'details' && <ThreadDetails thread={thread} />}
    </div>
  );
};

const Chat = ({ thread, asks }: { thread: Thread; asks: boolean | undefined }): ReactNode => {
  const query = useStoredState(thread.thread_id, undefined, { isLive: thread.status === 'busy' });
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Conversation">
      <ThreadNotice thread={thread} asks={asks} />
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
  const runs = useServerQuery({
    queryKey: ['runs', 'of', threadId],
    read: (client, call) => client.runs.list(threadId, { limit: runsMax, ...call }),
    refetchInterval: usePollMs(4_000),
  });
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Runs">
      <Loaded query={runs}>
        {(rows) => (
          <RunTable
            runs={rows}
            showsThread={false}
            empty={<State icon="empty" title="The thread has no runs" />}
          />
        )}
      </Loaded>
    </div>
  );
};

const ThreadDetails = ({ thread }: { thread: Thread }): ReactNode => {
  const owner = ownerOf(thread);
  return (
    <div className="page-body pad" tabIndex={0} role="region" aria-label="Details">
      <section className="panel">
        <dl className="facts pad">
          <Fact name="Thread" value={<span className="mono">{thread.thread_id}</span>} />
          <Fact
            name="Owner"
            value={
              owner !== undefined && (
                <Link to="/threads" search={{ owner }} title="Show the threads of this owner">
                  {visibleText(owner)}
                </Link>
              )
            }
          />
          <Fact name="Created" value={<Moment at={thread.created_at} />} />
          <Fact name="State changed" value={<Moment at={thread.state_updated_at} />} />
          <Fact name="Expires" value={<Expiry ttl={thread.ttl} />} />
          <Fact name="Metadata" value={<MetadataChips metadata={thread.metadata} />} />
          <Fact
            name="Error of the last run"
            value={thread.error !== undefined && thread.error !== null && <JsonTree value={thread.error} />}
          />
        </dl>
      </section>
    </div>
  );
};
