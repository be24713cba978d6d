// What the pages of threads read from the server.
import type { Client, Thread } from '@svc/sdk';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { useServerQuery } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { metadataProblem } from '../app/metadata-filter.ts';
import { previewPaths } from '../messages/thread-preview.ts';
import { usePollMs } from '../live/live-runs.tsx';
import { pageSize } from '../ui/paging.tsx';
import { conditionsOf, defaultOrder, type ThreadFilter } from './thread-filter.ts';

const listMs = 5_000;

/** `asks`: an interrupted thread waits for an answer; otherwise a breakpoint or a cancelled run has stopped it. */
export type ThreadRow = Thread & { asks: boolean };

/** The ids of the threads that wait for an answer. Their questions are not read: they may be large. */
const listAsking = async (client: Client, ids: string[], signal: AbortSignal): Promise<Set<string>> => {
  if (ids.length === 0) return new Set();
  const found = await client.threads.search(
    { ids, has_interrupts: true, select: ['thread_id'], limit: ids.length },
    { signal },
  );
  return new Set(found.map(({ thread_id: id }) => id));
};

const isInterrupted = ({ status }: Thread): boolean => status === 'interrupted';

/** `page` begins with 1. */
export const useThreads = (filter: ThreadFilter, page: number): UseQueryResult<ThreadRow[]> =>
  useServerQuery({
    queryKey: ['threads', filter, page],
    read: async (client, call) => {
      const threads = await client.threads.search(
        {
          ...conditionsOf(filter, Date.now()),
          sort_by: filter.sort ?? defaultOrder,
          sort_order: 'desc',
          offset: (page - 1) * pageSize,
          limit: pageSize,
          extract: previewPaths,
        },
        call,
      );
      const interrupted = threads.filter(isInterrupted).map(({ thread_id: id }) => id);
      const asking = await listAsking(client, interrupted, call.signal);
      return threads.map((thread) => ({ ...thread, asks: asking.has(thread.thread_id) }));
    },
    enabled: metadataProblem(filter.meta ?? '') === undefined,
    placeholderData: keepPreviousData,
    refetchInterval: usePollMs(listMs),
  });

export const useThreadTotal = (filter: ThreadFilter): UseQueryResult<number> =>
  useServerQuery({
    queryKey: ['counts', 'threads', filter],
    read: (client, call) => client.threads.count(conditionsOf(filter, Date.now()), call),
    enabled: metadataProblem(filter.meta ?? '') === undefined,
    placeholderData: keepPreviousData,
    refetchInterval: usePollMs(listMs),
  });

/** Whether an interrupted thread waits for an answer; undefined for other threads, and until it is known. */
export const useAsks = (thread: Thread): boolean | undefined => {
  const { thread_id: threadId } = thread;
  const { data } = useServerQuery({
    queryKey: ['thread', threadId, 'asks'],
    read: async (client, call) => (await listAsking(client, [threadId], call.signal)).has(threadId),
    enabled: isInterrupted(thread),
    refetchInterval: usePollMs(listMs),
  });
  return isInterrupted(thread) ? data : undefined;
};

/** The assistant that the thread was used with; that of the graph when the thread does not name one. */
export const useThreadAssistant = ({ metadata }: Thread): string | undefined => {
  const assistants = useAssistants();
  const { assistant_id: id, graph_id: graph } = metadata;
  const known = assistants.data?.find((one) => one.assistant_id === id || one.graph_id === graph);
  return typeof id === 'string' ? id : known?.assistant_id;
};
