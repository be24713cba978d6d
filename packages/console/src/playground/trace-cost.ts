// What a run has cost, from its trace. The prices of models are known to the server, and its trace routes need an API key.
import { useQuery } from '@tanstack/react-query';
import type { Run } from '@svc/sdk';
import { isOpen } from '../api/statuses.ts';
import { useAccess } from '../platform/platform-access.ts';

/** A trace is stored a moment after its run. A server without tracing never has it. */
const pollMs = 1_000;
const readsMax = 5;

/** A decimal number of dollars; undefined while or where it is unknown. */
export const useTraceCost = (run: Run | undefined): string | undefined => {
  const access = useAccess();
  const runId = run === undefined || isOpen(run.status) ? undefined : run.run_id;
  const query = useQuery({
    queryKey: ['traces', 'cost', access?.workspaceId, runId],
    queryFn: async ({ signal }) => {
      const select = ['id', 'status', 'total_cost'];
      const page = await access?.client.traces.query({ trace: runId, is_root: true, select }, { signal });
      const [root] = page?.runs ?? [];
      return {
        isComplete: root !== undefined && root.status !== 'pending',
        cost: root?.total_cost ?? undefined,
      };
    },
    enabled: access !== undefined && runId !== undefined,
    staleTime: 60_000,
    retry: false,
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data?.isComplete === false && dataUpdateCount < readsMax ? pollMs : false,
  });
  return query.data?.cost;
};
