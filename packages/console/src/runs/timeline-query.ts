import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Run, RunTimeline } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { isOpen } from '../api/statuses.ts';

/** `pollMs`: how often it is read again while the run is open. */
export const useTimeline = (run: Run, pollMs: number): UseQueryResult<RunTimeline> => {
  const client = useClient();
  return useQuery({
    queryKey: ['run', run.thread_id, run.run_id, 'timeline', run.updated_at],
    queryFn: ({ signal }) => client.runs.timeline(run.thread_id, run.run_id, { signal }),
    // The same run after a change, and no other run.
    placeholderData: (previous) => (previous?.run_id === run.run_id ? previous : undefined),
    refetchInterval: isOpen(run.status) ? pollMs : false,
  });
};
