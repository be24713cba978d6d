// The run that a column shows when the address names only a thread: the running one, or else the newest. Later runs of the thread wait for
// the running one.
import { useQuery } from '@tanstack/react-query';
import { useClient } from '../api/client.tsx';

/** Undefined while it is not known, and for a thread without runs. */
export const useNewestRunId = (threadId: string | undefined): string | undefined => {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['thread', threadId, 'newest-run'],
    queryFn: async ({ signal }) => {
      const newest = (status?: 'running') =>
        client.runs.list(threadId ?? '', { limit: 1, signal, ...(status === undefined ? {} : { status }) });
      const [[running], [last]] = await Promise.all([newest('running'), newest()]);
      return (running ?? last)?.run_id ?? null;
    },
    enabled: threadId !== undefined,
  });
  return data ?? undefined;
};
