import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useSyncExternalStore, type ReactNode } from 'react';
import { useIsOpen } from '../session/session.ts';
import { liveQueries } from './live-queries.ts';
import type { FeedState, SharedFeed } from './shared-feed.ts';

const FeedContext = createContext<SharedFeed | undefined>(undefined);

/** Reads the feed while the user may read runs. */
export const LiveFeed = ({ feed, children }: { feed: SharedFeed; children: ReactNode }): ReactNode => {
  const queries = useQueryClient();
  const isOpen = useIsOpen();
  useEffect(() => {
    if (!isOpen) return undefined;
    const live = liveQueries(queries);
    const ignore = feed.listen(live);
    const stop = feed.start();
    return () => {
      stop();
      ignore();
      live[Symbol.dispose]();
    };
  }, [feed, queries, isOpen]);
  return <FeedContext value={feed}>{children}</FeedContext>;
};

export const useFeedState = (): FeedState => {
  const feed = useContext(FeedContext);
  if (!feed) throw new Error('useFeedState() is only available below LiveFeed');
  return useSyncExternalStore(feed.subscribe, feed.state);
};

/** What the feed does not report, such as a thread without runs, is read again this often. */
const liveMs = 30_000;

/** How often something is read that the feed reports: rarely while the feed is live. */
export const usePollMs = (withoutFeedMs: number): number =>
  useFeedState() === 'live' ? liveMs : withoutFeedMs;
