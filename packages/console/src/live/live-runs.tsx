// Keeps what is shown up to date: the server notifies that runs have changed, and queries are read again.
import type { RunChanges } from '@svc/sdk';
import { type InfiniteData, type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { refreshChanged } from '../api/refresh.ts';
import { useIsOpen } from '../session/session.ts';

/** `off`: the server refuses notifications. Lists are polled unless the state is `live`. */
export type LiveState = 'off' | 'opening' | 'live' | 'lost';

const LiveContext = createContext<LiveState | undefined>(undefined);

/** Milliseconds until notifications that were refused are requested again. */
const retryMs = 30_000;

const subscribeToVisibility = (subscriber: () => void): (() => void) => {
  document.addEventListener('visibilitychange', subscriber);
  return () => document.removeEventListener('visibilitychange', subscriber);
};
const isVisibleNow = (): boolean => document.visibilityState === 'visible';

export interface LiveRunsProps {
  changes: (signal: AbortSignal) => AsyncIterable<RunChanges>;
  children: ReactNode;
}

/**
 * Follows the changes while the user may read runs and the tab is visible: browsers open few connections to a server. The first notification
 * refreshes everything, so a tab that becomes visible is up to date.
 */
export const LiveRuns = ({ changes, children }: LiveRunsProps): ReactNode => {
  const queries = useQueryClient();
  const isOpen = useIsOpen();
  const isVisible = useSyncExternalStore(subscribeToVisibility, isVisibleNow);
  const [state, setState] = useState<LiveState>('opening');
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (!isOpen || !isVisible) return undefined;
    const stop = new AbortController();
    let retry: ReturnType<typeof setTimeout> | undefined;
    const refresh = refreshing(queries);
    const follow = async (): Promise<void> => {
      for await (const change of changes(stop.signal)) {
        setState(change.event === 'runs' ? 'live' : 'lost');
        if (change.event === 'runs') refresh(change.thread_ids);
      }
    };
    // The caller may not read threads, for example. The queries show why.
    follow().catch(() => {
      if (stop.signal.aborted) return;
      setState('off');
      retry = setTimeout(() => setRefusals((count) => count + 1), retryMs);
    });
    return () => {
      stop.abort();
      clearTimeout(retry);
    };
  }, [changes, queries, isOpen, isVisible, refusals]);
  return <LiveContext value={state}>{children}</LiveContext>;
};

export const useLiveState = (): LiveState => {
  const state = useContext(LiveContext);
  if (state === undefined) throw new Error('useLiveState() is only available below LiveRuns');
  return state;
};

/** What is not notified, such as a thread without runs, is read again this often. */
const liveMs = 30_000;

/** The interval of polls, for queries that notifications also refresh. It is longer while notifications arrive. */
export const usePollMs = (otherwiseMs: number): number => (useLiveState() === 'live' ? liveMs : otherwiseMs);

/** A list of more pages is read again only when the user requests it. */
const pagesMax = 3;

export const isLong = (data: unknown): boolean =>
  ((data as Partial<InfiniteData<unknown>> | undefined)?.pages?.length ?? 0) > pagesMax;

/** The next page of a list is being read. A new read of the list would cancel it. */
const isLoadingMore = ({ state: { fetchStatus, fetchMeta } }: Query): boolean =>
  fetchStatus !== 'idle' && fetchMeta?.fetchMore !== undefined;

const isLive = (query: Query): boolean => !isLong(query.state.data) && !isLoadingMore(query);

/**
 * Returns a function that refreshes the queries of some threads, or all queries. Changes during a refresh cause one more refresh after it,
 * because a refresh that started at once would cancel the current one.
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
