// What pages read from the server. The key of a query contains everything that its result depends on.
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import type { Assistant, Client, GraphSchemas, Run, Thread, ThreadState } from '@svc/sdk';
import { session, useIsOpen } from '../session/session.ts';
import { useLiveState, usePollMs } from '../live/live-runs.tsx';
import { useServerQuery } from './client.tsx';
import { isOpen } from './statuses.ts';

/** Without notifications of changes, visible lists are read again this often. Queries pause while the tab is hidden. */
const listMs = 5_000;
const openMs = 1_500;
/** A change of what an open run waits for is not notified. */
const waitingMs = 5_000;

export const useAssistants = (): UseQueryResult<Assistant[]> => {
  // The palette has it on every page, also before the user has signed in.
  const isOpen = useIsOpen();
  return useServerQuery({
    enabled: isOpen,
    queryKey: ['assistants'],
    read: async (client, call) =>
      inOrder(
        await client.assistants.search({ limit: 1_000 }, call),
        session.state().session?.deployment?.graphs ?? [],
      ),
    staleTime: 30_000,
  });
};

/** By graph in the order of svc.json; the default assistant of a graph before its others, and the oldest of these first. */
const inOrder = (newestFirst: readonly Assistant[], graphs: readonly string[]): Assistant[] => {
  const rank = ({ graph_id: graph, metadata }: Assistant): number => {
    const place = graphs.indexOf(graph);
    return (place === -1 ? graphs.length : place) * 2 + (metadata['created_by'] === 'system' ? 0 : 1);
  };
  return newestFirst.toReversed().toSorted((one, other) => rank(one) - rank(other));
};

export const useSchemas = (assistantId: string | undefined): UseQueryResult<GraphSchemas> =>
  useServerQuery({
    queryKey: ['assistants', assistantId, 'schemas'],
    read: (client, call) => client.assistants.schemas(assistantId ?? '', call),
    enabled: assistantId !== undefined,
    staleTime: 300_000,
  });

/** The graph of an assistant, as the server draws it. */
export const useGraph = (
  assistantId: string | undefined,
  /** Draws the nodes of subgraphs in place of their node. */
  { xray = false }: { xray?: boolean } = {},
): UseQueryResult<Awaited<ReturnType<Client['assistants']['graph']>>> =>
  useServerQuery({
    queryKey: ['assistants', assistantId, 'graph', xray],
    read: (client, call) => client.assistants.graph(assistantId ?? '', { ...call, xray }),
    enabled: assistantId !== undefined,
    staleTime: 300_000,
  });

/** The values of a thread may be large, and are read by those who show them. */
const threadFields = [
  'thread_id',
  'status',
  'metadata',
  'created_at',
  'updated_at',
  'state_updated_at',
  'ttl',
  'error',
] as const;

export const useThread = (threadId: string | undefined): UseQueryResult<Thread> => {
  const idleMs = usePollMs(listMs);
  const busyMs = usePollMs(openMs);
  return useServerQuery({
    queryKey: ['thread', threadId],
    read: (client, call) => client.threads.get(threadId ?? '', { select: threadFields, ...call }),
    enabled: threadId !== undefined,
    refetchInterval: ({ state }) => (state.data?.status === 'busy' ? busyMs : idleMs),
  });
};

/** The newest state of a thread, whole. Pages that only show it read it in parts (`stored/`). */
export const useThreadState = (threadId: string | undefined): UseQueryResult<ThreadState> =>
  useServerQuery({
    queryKey: ['thread', threadId, 'state'],
    read: (client, call) => client.threads.getState(threadId ?? '', call),
    enabled: threadId !== undefined,
  });

/** The state of a thread at a checkpoint, whole. */
export const useStateAt = (
  threadId: string | undefined,
  checkpointId: string | undefined,
): UseQueryResult<ThreadState> =>
  useServerQuery({
    queryKey: ['thread', threadId, 'state', 'at', checkpointId],
    read: (client, call) =>
      client.threads.getState(threadId ?? '', { checkpointId: checkpointId ?? '', ...call }),
    enabled: threadId !== undefined && checkpointId !== undefined,
    // The values of a checkpoint never change.
    staleTime: 'static',
  });

/** What a thread asks, and where it has stopped. */
export const useOpenTasks = (threadId: string): UseQueryResult<Pick<ThreadState, 'next' | 'tasks'>> =>
  useServerQuery({
    queryKey: ['thread', threadId, 'state', 'tasks'],
    read: (client, call) => client.threads.getState(threadId, { select: ['next', 'tasks'], ...call }),
    refetchInterval: listMs,
  });

export const useRun = (threadId: string | undefined, runId: string | undefined): UseQueryResult<Run> => {
  const isLive = useLiveState() === 'live';
  return useServerQuery({
    queryKey: ['run', threadId, runId],
    read: (client, call) => client.runs.get(threadId ?? '', runId ?? '', call),
    enabled: threadId !== undefined && runId !== undefined,
    refetchInterval: ({ state }) =>
      state.data && isOpen(state.data.status) ? (isLive ? waitingMs : openMs) : false,
  });
};

export interface CountFilter {
  status?: Thread['status'] | undefined;
  metadata?: Record<string, unknown> | undefined;
  has_interrupts?: boolean;
}

export const useThreadCount = (filter: CountFilter): UseQueryResult<number> => {
  // The rail has it on every page, also before the user has signed in.
  const isOpen = useIsOpen();
  const pollMs = usePollMs(listMs);
  return useServerQuery({
    enabled: isOpen,
    queryKey: ['counts', filter],
    read: (client, call) => client.threads.count(filter, call),
    placeholderData: keepPreviousData,
    refetchInterval: pollMs,
  });
};
