import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import { refreshChanged } from '../api/refresh.ts';

/** A list of more pages is read again only when the user requests it. */
const pagesMax = 3;

export const isLong = (data: unknown): boolean =>
  ((data as Partial<InfiniteData<unknown>> | undefined)?.pages?.length ?? 0) > pagesMax;

/** The next page of a list is being read. A new read of the list would cancel it. */
const isLoadingMore = ({ state: { fetchStatus, fetchMeta } }: Query): boolean =>
  fetchStatus !== 'idle' && fetchMeta?.fetchMore !== undefined;

const isLive = (query: Query): boolean => !isLong(query.state.data) && !isLoadingMore(query);

/**
 * Returns a function that reads again what shows the threads, or everything. Changes during a read cause one more read after it: a read that
 * began earlier would cancel it.
 */
export const refreshing = (queries: QueryClient): ((threadIds: readonly string[] | undefined) => void) => {
  /** Undefined: nothing has changed. */
  let due: ReadonlySet<string> | 'any' | undefined;
  let isReading = false;
  const read = async (): Promise<void> => {
    isReading = true;
    for (let next = due; next !== undefined; next = due) {
      due = undefined;
      await refreshChanged(queries, next === 'any' ? undefined : [...next], isLive);
    }
    isReading = false;
  };
  return (threadIds) => {
    due = threadIds === undefined || due === 'any' ? 'any' : new Set([...(due ?? []), ...threadIds]);
    if (!isReading) void read();
  };
};
