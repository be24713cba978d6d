import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Cron, Run } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { pageNumber, pageSize } from '../ui/paging.tsx';

const pollMs = 5_000;
const runsMax = 20;

export interface CronFilter {
  assistant?: string | undefined;
  thread?: string | undefined;
  state?: 'enabled' | 'paused' | undefined;
  page?: string | undefined;
}

/** The newest first. */
export const useCrons = (filter: CronFilter): UseQueryResult<Cron[]> => {
  const client = useClient();
  return useQuery({
    queryKey: ['crons', 'list', filter],
    queryFn: ({ signal }) =>
      client.crons.search(
        {
          assistant_id: filter.assistant,
          thread_id: filter.thread,
          enabled: filter.state && filter.state === 'enabled',
          limit: pageSize,
          offset: (pageNumber(filter.page) - 1) * pageSize,
        },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollMs,
  });
};

export const useCron = (cronId: string): UseQueryResult<Cron> => {
  const client = useClient();
  return useQuery({
    queryKey: ['crons', 'one', cronId],
    queryFn: ({ signal }) => client.crons.get(cronId, { signal }),
    refetchInterval: pollMs,
  });
};

/** The newest runs that a cron has created and that still exist. */
export const useCronRuns = (cronId: string): UseQueryResult<Run[]> => {
  const client = useClient();
  return useQuery({
    queryKey: ['runs', 'of cron', cronId],
    queryFn: async ({ signal }) => {
      const page = await client.runs.searchPage(
        { metadata: { cron_id: cronId }, limit: runsMax },
        { signal },
      );
      return page.runs;
    },
    refetchInterval: pollMs,
  });
};
