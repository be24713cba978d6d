// The runs of a busy thread that have not ended: what the thread waits for.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { usePollMs } from '../live/live-runs.tsx';
import { Ago } from '../ui/time.tsx';

const runsMax = 10;

export const OpenRuns = ({ threadId }: { threadId: string }): ReactNode => {
  const client = useClient();
  const { data: runs = [] } = useQuery({
    // A change of a run of the thread reads everything below this key again.
    queryKey: ['thread', threadId, 'open-runs'],
    queryFn: ({ signal }) =>
      client.runs.search(
        {
          thread_id: threadId,
          status: ['pending', 'running'],
          sort_order: 'asc',
          limit: runsMax,
          select: ['run_id', 'status', 'created_at'],
        },
        { signal },
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
            {others > 0 && `; ${others}${runs.length === runsMax ? '+' : ''} more behind it`}.
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
