// What the pages of traces read. All keys begin with `traces`: another API key removes them.
import { useServerQuery } from '../api/client.tsx';
import { usePlatform, usePlatformQuery } from '../platform/platform-access.ts';
import { keepPreviousData, type InfiniteData, type UseQueryResult } from '@tanstack/react-query';
import type { RunPage, RunTree, TraceRun } from '@svc/sdk';
import { usePagedQuery, type PagedQuery } from '../api/paged-query.ts';
import { isId } from '../app/search-text.ts';
import type { KeyNeed } from '../platform/key-gate.tsx';
import { plotPollMs } from '../plots/poll-ms.ts';
import type { TimeSpan } from '../plots/time-span.ts';
import type { TraceSeries } from './chart-series.ts';
import type { TreeRun } from './span-table.ts';
import { boundsOf, chartRange } from './trace-time.ts';

export interface TraceFilter extends TimeSpan {
  project?: string | undefined;
  filter?: string | undefined;
  runs?: 'all' | undefined;
}

const pageSize = 50;
const pollMs = 5_000;
/** Trees of pending traces are read again; a large one takes the browser a moment. */
const treePollMs = (runs: number): number => (runs > 2_000 ? 10_000 : 1_500);
/** A trace that is pending for longer has most likely lost its sender. */
const openMaxMs = 3_600_000;

/** Without payloads, a page costs the server several times less. */
export const select = [
  'id',
  'trace_id',
  'parent_run_id',
  'name',
  'run_type',
  'status',
  'error',
  'start_time',
  'end_time',
  'total_tokens',
  'total_cost',
  'session_id',
];

interface PagedState {
  state: { error: Error | null; data: InfiniteData<unknown> | undefined };
}

/** The interval of a list that is read again, unless it has failed or older pages were loaded too. */
export const everyWhileOnePage =
  (intervalMs: number) =>
  ({ state }: PagedState): number | false =>
    state.error === null && (state.data?.pages.length ?? 0) <= 1 ? intervalMs : false;

export const traceNeed = { what: 'Traces', role: 'viewer' } as const satisfies KeyNeed;

/** The request of a list with this filter. */
export const traceRequest = (asked: TraceFilter, nowMs: number) => {
  const { project, filter, runs } = asked;
  return {
    ...(project !== undefined && { session: [project] }),
    ...(runs !== 'all' && { is_root: true }),
    ...boundsOf(asked, nowMs),
    ...(filter !== undefined && { filter }),
    select,
    limit: pageSize,
  };
};

export const useTraceRuns = (asked: TraceFilter): PagedQuery<RunPage> => {
  const client = usePlatform();
  return usePagedQuery({
    queryKey: ['traces', 'runs', asked],
    read: (cursor, call) => client.traces.query({ ...traceRequest(asked, Date.now()), cursor }, call),
    next: ({ cursors }) => cursors.next,
    placeholderData: keepPreviousData,
    // A filter that the server has rejected stays rejected.
    refetchInterval: everyWhileOnePage(pollMs),
  });
};

/** Figures over time. Roots are counted and timed, and all trace runs of the same traces have the tokens, costs and first tokens. */
export const useTraceSeries = (asked: TraceFilter): UseQueryResult<TraceSeries> =>
  usePlatformQuery({
    queryKey: ['traces', 'series', asked],
    read: async (client, call) => {
      const { project, filter, runs } = asked;
      const range = {
        session: project === undefined ? undefined : [project],
        ...chartRange(asked, Date.now()),
      };
      if (runs === 'all') {
        const counted = await client.traces.statsSeries({ ...range, filter }, call);
        return { counted, whole: counted };
      }
      const [counted, whole] = await Promise.all([
        client.traces.statsSeries({ ...range, is_root: true, filter }, call),
        client.traces.statsSeries({ ...range, trace_filter: filter }, call),
      ]);
      return { counted, whole };
    },
    placeholderData: keepPreviousData,
    // A time with an end does not change.
    refetchInterval: ({ state: { data, error } }) =>
      asked.to === undefined && plotPollMs(data?.counted.interval_seconds, error),
  });

/** The newest other traces with this name of the root. */
export const useLikeTraces = (traceId: string, name: string): UseQueryResult<RunPage['runs']> =>
  usePlatformQuery({
    queryKey: ['traces', 'like', traceId, name],
    read: async (client, call) => {
      const filter = `eq(name, ${JSON.stringify(name)})`;
      const { runs } = await client.traces.query({ is_root: true, filter, select, limit: pageSize }, call);
      return runs.filter(({ trace_id: id }) => id !== traceId);
    },
  });

export const useTrace = (traceId: string): UseQueryResult<RunTree> =>
  usePlatformQuery({
    queryKey: ['traces', 'tree', traceId],
    read: (client, call) => client.traces.tree(traceId, call),
    staleTime: 5_000,
    refetchOnWindowFocus: false,
    // Comparing two trees is recursive, and a trace may be deep.
    structuralSharing: false,
    refetchInterval: ({ state: { data } }) =>
      data && isOpenTrace(data) ? treePollMs(data.run_count) : false,
  });

const isOpenTrace = ({ runs }: RunTree): boolean =>
  (runs as unknown as TreeRun[]).some(
    ({ status, start_time: start }) =>
      status === 'pending' && (start === null || Date.now() - Date.parse(start) < openMaxMs),
  );

/** A span with its payloads. The request of a span that is left is cancelled. */
export const useSpan = (spanId: string, { isOpen }: { isOpen: boolean }): UseQueryResult<TraceRun> =>
  usePlatformQuery({
    queryKey: ['traces', 'span', spanId, isOpen],
    read: (client, call) => client.traces.get(spanId, call),
    staleTime: isOpen ? 1_000 : 60_000,
    refetchOnWindowFocus: false,
    placeholderData: (previous) => (previous?.id === spanId ? previous : undefined),
  });

export interface Origin {
  threadId: string;
  runId: string | undefined;
}

const runsMax = 100;

/** The thread and the run of this server that a span belongs to. Traces of other programs have neither. */
export const useOrigin = (span: TraceRun | undefined): Origin | undefined => {
  const metadata = (span?.extra?.['metadata'] ?? {}) as Record<string, unknown>;
  const { thread_id: thread, run_id: run } = metadata;
  const threadId = typeof thread === 'string' && isId(thread) ? thread : undefined;
  const runId = typeof run === 'string' && isId(run) ? run : undefined;
  const { data } = useServerQuery({
    queryKey: ['thread', threadId, 'origin', runId],
    read: async (client, call): Promise<Origin | null> => {
      // Searches, because a read of something that is gone is an error.
      const found = await client.threads.search(
        { ids: [threadId ?? ''], select: ['thread_id'], limit: 1 },
        call,
      );
      if (found.length === 0 || threadId === undefined) return null;
      const before = span?.start_time && new Date(Date.parse(span.start_time) + 1).toISOString();
      const { runs } = await client.runs.searchPage(
        { thread_id: threadId, created_before: before, select: ['run_id'], limit: runsMax },
        call,
      );
      return { threadId, runId: runs.some((one) => one.run_id === runId) ? runId : undefined };
    },
    enabled: threadId !== undefined,
    staleTime: 60_000,
  });
  return data ?? undefined;
};
