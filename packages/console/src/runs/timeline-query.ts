import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Run, RunTimeline } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { isOpen } from '../api/statuses.ts';

/** How often it is read again while the run is open. */
const pollMs = 2_000;

export const useTimeline = (run: Run): UseQueryResult<RunTimeline> => {
  const client = useClient();
  return useQuery({
    queryKey: ['run', run.thread_id, run.run_id, 'timeline', run.updated_at],
    queryFn: ({ signal }) => client.runs.timeline(run.thread_id, run.run_id, { signal }),
    // The same run after a change, and no other run.
    placeholderData: (previous) => (previous?.run_id === run.run_id ? previous : undefined),
    refetchInterval: isOpen(run.status) ? pollMs : false,
  });
};
