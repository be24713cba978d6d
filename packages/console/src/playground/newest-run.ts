// The run that a column shows when the address names a thread only, as on the way from the page of the thread.
import { useQuery } from '@tanstack/react-query';
import { useClient } from '../api/client.tsx';

/** Undefined while it is not known, and for a thread without runs. */
export const useNewestRunId = (threadId: string | undefined): string | undefined => {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['thread', threadId, 'newest-run'],
    queryFn: async ({ signal }) => {
      const [run] = await client.runs.list(threadId ?? '', { limit: 1, signal });
      return run?.run_id ?? null;
    },
    enabled: threadId !== undefined,
  });
  return data ?? undefined;
};
