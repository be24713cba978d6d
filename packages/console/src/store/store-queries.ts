// What the store page reads. Reading never restarts the countdown of an item that expires.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { Item } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { pageSize } from '../ui/paging.tsx';

const pollMs = 5_000;
export const childrenMax = 1_000;

/** The namespaces one level below another one. */
export const useNamespaces = (
  prefix: readonly string[],
  { isOpen }: { isOpen: boolean },
): UseQueryResult<string[][]> => {
  const client = useClient();
  return useQuery({
    queryKey: ['store', 'namespaces', prefix],
    queryFn: async ({ signal }) => {
      const depth = prefix.length + 1;
      const found = await client.store.namespaces(
        { prefix: [...prefix], max_depth: depth, limit: childrenMax },
        { signal },
      );
      // An item may be in the prefix itself.
      return found.filter((namespace) => namespace.length === depth);
    },
    enabled: isOpen,
    refetchInterval: pollMs,
  });
};

/** Items of a namespace and of all below it, the newest update first. */
export const useItems = (prefix: readonly string[], page: number): UseQueryResult<Item[]> => {
  const client = useClient();
  return useQuery({
    queryKey: ['store', 'items', prefix, page],
    queryFn: ({ signal }) =>
      client.store.search(
        [...prefix],
        { limit: pageSize, offset: (page - 1) * pageSize, refresh_ttl: false },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollMs,
  });
};

/** Null when there is no such item. */
export const useItem = (namespace: readonly string[], key: string): UseQueryResult<Item | null> => {
  const client = useClient();
  return useQuery({
    queryKey: ['store', 'item', namespace, key],
    queryFn: ({ signal }) => client.store.get([...namespace], key, { refreshTtl: false, signal }),
    refetchInterval: pollMs,
  });
};
