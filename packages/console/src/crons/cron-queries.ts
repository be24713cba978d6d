import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import type { Cron, Run } from '@svc/sdk';
import { useServerQuery } from '../api/client.tsx';
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
export const useCrons = (filter: CronFilter): UseQueryResult<Cron[]> =>
  useServerQuery({
    queryKey: ['crons', 'list', filter],
    read: (client, call) =>
      client.crons.search(
        {
          assistant_id: filter.assistant,
          thread_id: filter.thread,
          enabled: filter.state && filter.state === 'enabled',
          limit: pageSize,
          offset: (pageNumber(filter.page) - 1) * pageSize,
        },
        call,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollMs,
  });

export const useCron = (cronId: string): UseQueryResult<Cron> =>
  useServerQuery({
    queryKey: ['crons', 'one', cronId],
    read: (client, call) => client.crons.get(cronId, call),
    refetchInterval: pollMs,
  });

/** The newest runs that a cron has created and that still exist. */
export const useCronRuns = (cronId: string): UseQueryResult<Run[]> =>
  useServerQuery({
    queryKey: ['runs', 'of cron', cronId],
    read: async (client, call) => {
      const page = await client.runs.searchPage({ metadata: { cron_id: cronId }, limit: runsMax }, call);
      return page.runs;
    },
    refetchInterval: pollMs,
  });
