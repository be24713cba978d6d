// What a run does at the moment or has stopped in, and which runs of its thread wait behind it: facts of its overview.
import type { Run } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { isOpen } from '../api/statuses.ts';
import { usePollMs } from '../live/live-runs.tsx';
import { countText } from '../ui/number-text.ts';
import { Fact } from '../ui/panel.tsx';
import { Elapsed, LocalTime, Took } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useTimeline } from './run-timeline.tsx';
import { unfinishedStep } from './timeline-rows.ts';

const behindMax = 100;

export const RunProgress = ({ run }: { run: Run }): ReactNode => (
  <>
    {run.status !== 'success' && run.status !== 'pending' && <UnfinishedStep run={run} />}
    {isOpen(run.status) && <RunsBehind run={run} />}
  </>
);

/** The nodes that execute, or in which the run has stopped. */
const UnfinishedStep = ({ run }: { run: Run }): ReactNode => {
  const { data: timeline } = useTimeline(run);
  const step = timeline && unfinishedStep(timeline);
  if (!step) return null;
  const { nodes, since, to } = step;
  return (
    <Fact name={to === undefined ? 'Executes now' : 'Stopped in'}>
      {visibleText(nodes.join(', ')) || 'no node yet'}{' '}
      {to === undefined ? (
        <>
          for <Elapsed since={since} />
        </>
      ) : (
        <>
          after <Took from={since} to={to} />
        </>
      )}{' '}
      <span className="muted">
        since <LocalTime at={since} />
      </span>
    </Fact>
  );
};

/** A thread executes its runs one after the other: all that are pending wait behind the running one. */
const RunsBehind = ({ run }: { run: Run }): ReactNode => {
  const { run_id: runId, thread_id: threadId, created_at: created, status } = run;
  const { data: behind = [] } = useServerQuery({
    // A change of a run of the thread reads everything below this key again.
    queryKey: ['thread', threadId, 'runs-behind', runId, status],
    read: async (client, call) => {
      const pending = await client.runs.search(
        {
          thread_id: threadId,
          status: 'pending',
          ...(status === 'pending' ? { created_after: created } : {}),
          // One is the run itself, and one more shows that the list is longer.
          limit: behindMax + 2,
          select: ['run_id'],
        },
        call,
      );
      return pending.filter(({ run_id: id }) => id !== runId);
    },
    refetchInterval: usePollMs(4_000),
  });
  if (behind.length === 0) return null;
  const count = Math.min(behind.length, behindMax);
  const hasMore = behind.length > behindMax;
  return (
    <Fact name="Waiting runs">
      <Link to="/runs" search={{ thread: threadId, status: ['pending'] }}>
        {countText(count, 'run', { hasMore })} {count === 1 ? 'waits' : 'wait'} behind it
      </Link>
    </Fact>
  );
};
