// The number of threads with open questions, and the time of the oldest question.
import { Link } from '@tanstack/react-router';
import { useServerQuery } from '../api/client.tsx';
import { useThreadCount } from '../api/queries.ts';
import { duration } from '../ui/duration.ts';
import { countText } from '../ui/number-text.ts';
import { useNow } from '../ui/use-now.ts';
import { type Findings, findingsMs } from './finding.tsx';

const asking = { has_interrupts: true };

export const useWaitingThreads = (): Findings => {
  const nowMs = useNow();
  const count = useThreadCount(asking);
  const oldest = useServerQuery({
    // A change of a thread reads it again, as it does the count.
    queryKey: ['counts', 'oldest question'],
    read: (client, call) =>
      client.threads.search(
        {
          ...asking,
          sort_by: 'state_updated_at',
          sort_order: 'asc',
          limit: 1,
          select: ['thread_id', 'state_updated_at'],
        },
        call,
      ),
    refetchInterval: findingsMs,
  });
  const error = count.error ?? oldest.error;
  if (count.data === undefined || !oldest.data) return { found: undefined, error };
  const [first] = oldest.data;
  if (count.data === 0 || !first) return { found: [], error };
  const waits = duration(nowMs - Date.parse(first.state_updated_at));
  const isOne = count.data === 1;
  return {
    found: [
      {
        key: 'waiting for an answer',
        tone: 'amber',
        sentence: `${countText(count.data, 'thread')} ${isOne ? `has waited for an answer for ${waits}` : `wait for an answer, the oldest for ${waits}`}`,
        links: (
          <Link to="/inbox" search={{ sel: first.thread_id }} className="button">
            {isOne ? 'Open the question' : 'Open the oldest question'}
          </Link>
        ),
      },
    ],
    error,
  };
};
