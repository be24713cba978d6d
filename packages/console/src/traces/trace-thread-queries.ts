// Threads of traces: conversations that the metadata of trace runs names. A thread of this server is one of them if its runs are traced.
import type { RunPage, ThreadPage, TraceThread } from '@svc/sdk';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useServerQuery } from '../api/client.tsx';
import { type PagedQuery, usePagedQuery } from '../api/paged-query.ts';
import { isId } from '../app/search-text.ts';
import { usePlatform, usePlatformQuery } from '../platform/platform-access.ts';
import { useIsOpen } from '../session/session.ts';
import { visibleText } from '../ui/visible-text.ts';
import { everyWhileOnePage, select, type TraceFilter } from './trace-queries.ts';
import { boundsOf } from './trace-time.ts';

const threadsOfPage = 25;
const tracesOfPage = 50;
/** Each thread is summed over its trace runs. */
const pollMs = 15_000;
const tracePollMs = 5_000;

/** A filter that the trace runs of a thread match. Filters and JSON write texts in the same way. */
export const threadFilter = (threadId: string): string => `eq(thread_id, ${JSON.stringify(threadId)})`;

/** Which threads of a project. */
export type ThreadFilter = TraceFilter & { project: string };

const conditionsOf = ({ project, filter, runs, ...time }: ThreadFilter) => {
  const { start_time: from, end_time: to } = boundsOf(time, Date.now());
  return {
    project_id: project,
    ...(runs === 'all' ? { filter } : { trace_filter: filter }),
    min_start_time: from,
    max_start_time: to,
  };
};

/** Threads with a trace that matches the filter, or with a trace run that does, for `runs: all`. Newest trace runs first. */
export const useTraceThreads = (asked: ThreadFilter): PagedQuery<ThreadPage> => {
  const client = usePlatform();
  return usePagedQuery({
    queryKey: ['traces', 'threads', asked],
    read: (cursor, call) =>
      client.traces.threads({ ...conditionsOf(asked), page_size: threadsOfPage, cursor }, call),
    next: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: everyWhileOnePage(pollMs),
  });
};

/** One thread with all of its traces; null when the project has none of it. */
export const useTraceThread = (project: string, threadId: string): UseQueryResult<TraceThread | null> =>
  usePlatformQuery({
    queryKey: ['traces', 'thread', project, threadId],
    read: async (client, call) => {
      const asked = { project_id: project, filter: threadFilter(threadId), page_size: 1 };
      const { items } = await client.traces.threads(asked, call);
      return items[0] ?? null;
    },
    refetchInterval: ({ state }) => state.error === null && pollMs,
  });

/** The traces of a thread, oldest first: the roots that have its id. */
export const useTracesOfThread = (project: string, threadId: string): PagedQuery<RunPage> => {
  const client = usePlatform();
  return usePagedQuery({
    queryKey: ['traces', 'thread', project, threadId, 'traces'],
    // Not the route of a thread's trace runs, which sends their inputs and outputs too.
    read: (cursor, call) =>
      client.traces.query(
        {
          session: [project],
          is_root: true,
          filter: threadFilter(threadId),
          order: 'asc',
          select,
          limit: tracesOfPage,
          cursor,
        },
        call,
      ),
    next: ({ cursors }) => cursors.next,
    refetchInterval: everyWhileOnePage(tracePollMs),
  });
};

/** Whether this server has a thread with this id that the user may read. */
export const useHasThread = (threadId: string): boolean => {
  const isOpen = useIsOpen();
  const { data = false } = useServerQuery({
    queryKey: ['thread', threadId, 'exists'],
    read: async (client, call) => {
      // A search, because a read of a thread that is gone is an error.
      const found = await client.threads.search({ ids: [threadId], select: ['thread_id'], limit: 1 }, call);
      return found.length > 0;
    },
    enabled: isOpen && isId(threadId),
    staleTime: 60_000,
  });
  return data;
};

const namedMax = 40;

/** The beginning of a UUID identifies a thread. Other ids are names that programs have given. */
export const shortThreadId = (id: string): string =>
  isId(id) ? id.slice(0, 8) : visibleText(id.length > namedMax ? `${id.slice(0, namedMax)}…` : id);
