import type { Assistant } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { usePollMs } from '../live/live-runs.tsx';
import { previewOf, previewPaths } from '../messages/thread-preview.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

const shownMax = 20;

/** The newest threads of an assistant; a click continues one. */
export const RecentThreads = ({
  assistant: { assistant_id: assistant },
  current,
}: {
  assistant: Assistant;
  current: string | undefined;
}): ReactNode => {
  const threads = useServerQuery({
    queryKey: ['threads', 'recent', assistant],
    read: (client, call) =>
      client.threads.search(
        {
          metadata: { assistant_id: assistant },
          sort_by: 'updated_at',
          sort_order: 'desc',
          limit: shownMax,
          select: ['thread_id', 'status', 'updated_at'],
          extract: previewPaths,
        },
        call,
      ),
    refetchInterval: usePollMs(5_000),
  });
  return (
    <Loaded query={threads}>
      {(rows) =>
        rows.length === 0 ? (
          <p className="muted">No thread of this assistant yet.</p>
        ) : (
          <ul className="recent-threads">
            {rows.map((thread) => (
              <li key={thread.thread_id}>
                <Link
                  to="/playground"
                  search={{ assistant, thread: thread.thread_id, panel: 'threads' }}
                  aria-current={thread.thread_id === current ? 'page' : undefined}
                >
                  <span className="recent-thread-text">
                    {visibleText(previewOf(thread)) || thread.thread_id.slice(0, 8)}
                  </span>
                  <span className="row muted">
                    <StatusBadge status={thread.status} /> <Ago at={thread.updated_at} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
};
