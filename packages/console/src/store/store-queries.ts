// What the store page reads. Reading never restarts the countdown of an item that expires.
import type { Item } from '@svc/sdk';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useServerQuery } from '../api/client.tsx';
import { pageSize } from '../ui/paging.tsx';

const pollMs = 5_000;
export const childrenMax = 1_000;

/** The namespaces one level below another one. */
export const useNamespaces = (
  prefix: readonly string[],
  { isOpen }: { isOpen: boolean },
): UseQueryResult<string[][]> =>
  useServerQuery({
    queryKey: ['store', 'namespaces', prefix],
    read: async (client, call) => {
      const depth = prefix.length + 1;
      const found = await client.store.namespaces(
        { prefix: [...prefix], max_depth: depth, limit: childrenMax },
        call,
      );
      // An item may be in the prefix itself.
      return found.filter((namespace) => namespace.length === depth);
    },
    enabled: isOpen,
    refetchInterval: pollMs,
  });

/** Items of a namespace and of all below it, the newest update first. */
export const useItems = (prefix: readonly string[], page: number): UseQueryResult<Item[]> =>
  useServerQuery({
    queryKey: ['store', 'items', prefix, page],
    read: (client, call) =>
      client.store.search(
        [...prefix],
        { limit: pageSize, offset: (page - 1) * pageSize, refresh_ttl: false },
        call,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollMs,
  });

/** Null when there is no such item. */
export const useItem = (namespace: readonly string[], key: string): UseQueryResult<Item | null> =>
  useServerQuery({
    queryKey: ['store', 'item', namespace, key],
    read: (client, call) => client.store.get([...namespace], key, { refreshTtl: false, ...call }),
    refetchInterval: pollMs,
  });

// Namespaces in addresses and fields: labels contain no dots, so they are joined by dots.
export const formatNamespace = (namespace: readonly string[]): string => namespace.join('.');

/** The labels of a text; an empty text is the root. */
export const readNamespace = (text: string | undefined): string[] =>
  text === undefined || text.trim() === '' ? [] : text.trim().split('.');

/** Why the server would not accept the text as a namespace. */
export const namespaceProblem = (text: string): string | undefined =>
  readNamespace(text).includes('') ? 'A label is empty: labels are separated by single dots.' : undefined;
