// Runs that appear while somebody looks at older ones: they are counted, and come into the list when they are asked for.
import type { Run } from '@svc/sdk';
import { useServerQuery } from '../api/client.tsx';
import { usePollMs } from '../live/live-runs.tsx';
import { toRequest, type RunFilter } from './run-filter.ts';

/** More new runs are not counted. */
export const countMax = 100;
const pollMs = 4_000;

/** Runs after this time are newer than those of the list. Undefined for an empty list and for an ascending one. */
export const newestOf = (runs: readonly Run[], { sort }: RunFilter): string | undefined => {
  const newestMs = Math.max(...runs.map(({ created_at: at }) => Date.parse(at)));
  return sort === 'asc' || runs.length === 0 ? undefined : new Date(newestMs + 1).toISOString();
};

/** How many runs of the filter are newer than a list that is held. `newest`: undefined if the list is not held. */
export const useNewRunCount = (filter: RunFilter, newest: string | undefined): number => {
  const refetchInterval = usePollMs(pollMs);
  const { data = 0 } = useServerQuery({
    queryKey: ['runs', 'new', filter, newest],
    read: async (client, call) => {
      const request = toRequest(filter, Date.now());
      // The range of the filter has ended.
      if (newest === undefined || (request.created_before ?? newest) < newest) return 0;
      const { runs } = await client.runs.searchPage(
        { ...request, select: ['run_id'], created_after: newest, limit: countMax },
        call,
      );
      return runs.length;
    },
    enabled: newest !== undefined,
    refetchInterval,
  });
  return data;
};
