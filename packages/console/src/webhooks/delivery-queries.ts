import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useClient } from '../api/client.tsx';
import { hasEndedEarly } from '../api/delivery-pages.ts';
import type { DeliveryStatus } from '../api/statuses.ts';

const pollMs = 5_000;
const pageSize = 50;
/** Pages that are read again while they are visible. Older ones change rarely. */
const livePages = 3;

/** The newest first. */
export const useDeliveries = (status: DeliveryStatus[] | undefined) => {
  const client = useClient();
  return useInfiniteQuery({
    queryKey: ['webhooks', status],
    queryFn: ({ signal, pageParam: cursor }) =>
      client.runs.searchWebhooks({ status, limit: pageSize, cursor }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const isExpensive = pages.some((page) => hasEndedEarly(page, pageSize));
      return pages.length <= livePages && !isExpensive ? pollMs : false;
    },
  });
};
