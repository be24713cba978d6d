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
import { Ago, Moment } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { isBranch } from '../values/json-entries.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { Checkpoints } from './checkpoints.tsx';
import { type Pruned, PruneResult } from './prune-dialog.tsx';
import { ThreadActions } from './thread-actions.tsx';
import { ThreadBadge } from './thread-badge.tsx';
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

const openRunsMax = 10;

/** The runs of a busy thread that have not ended: what the thread waits for. */
const OpenRuns = ({ threadId }: { threadId: string }): ReactNode => {
  const { data: runs = [] } = useServerQuery({
    // A change of a run of the thread reads everything below this key again.
    queryKey: ['thread', threadId, 'open-runs'],
    read: (client, call) =>
      client.runs.search(
        {
          thread_id: threadId,
          status: ['pending', 'running'],
          sort_order: 'asc',
          limit: openRunsMax,
          select: ['run_id', 'status', 'created_at'],
        },
        call,
      ),
    refetchInterval: usePollMs(4_000),
  });
  const first = runs.find(({ status }) => status === 'running') ?? runs[0];
  if (!first) return null;
  const { run_id: runId, status, created_at: at } = first;
  const others = runs.length - 1;
  return (
    <div className="pad">
      <div className="notice" data-tone="blue">
        <span className="notice-text">
          {/* The time is outside of the live region: screen readers would announce each change. */}
          <span role="status">
            Run {runId.slice(0, 8)} is {status}
            {others > 0 && `; ${others}${runs.length === openRunsMax ? '+' : ''} more behind it`}.
          </span>{' '}
          Created <Ago at={at} />.
        </span>
        <Link to="/runs/$runId" params={{ runId }} search={{ thread: threadId }} className="button">
          Open the run
        </Link>
      </div>
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
          <Fact name="Metadata" value={<JsonTree value={thread.metadata} openDepth={2} />} />
          <Fact
            name="Error of the last run"
            value={thread.error !== undefined && thread.error !== null && <JsonTree value={thread.error} />}
          />
        </dl>
      </section>
    </div>
  );
};
