import type { RouteInput, threadReadRoutes, traceThreadRoutes } from '@svc/contract';
import type { Call, Handlers } from '../../api/handlers.ts';
import { tenantOf } from '../../auth/principal/caller.ts';
import { readerOf } from '../traces/attachment-service.ts';
import { toRunPage } from '../traces/run-page.ts';
import { dayAgo } from '../traces/run-read-service.ts';
import type { ThreadReadService } from './thread-read-service.ts';
import { asRequested } from '../traces/run-read-handlers.ts';
import type { TraceService } from '../traces/trace-service.ts';
import type { TraceThreadService } from './trace-thread-service.ts';

export const threadReadHandlers = (threads: ThreadReadService): Handlers<typeof threadReadRoutes> => ({
  listThreadTraces: async ({ params, query }, call) => {
    const { project_id, filter, trace_filter, tree_filter } = query;
    const thread = { project_id, thread_id: params.thread_id };
    const selection = { filter, trace_filter, tree_filter };
    return toRunPage(await threads.turns(tenantOf(call), thread, selection, query));
  },

  getThreadStats: ({ params, query }, call) => {
    const { session_id, filter, selects } = query;
    const thread = { session_id, thread_id: params.thread_id, filter };
    return threads.stats(tenantOf(call), thread, selects);
  },

  getThreadAggregates: ({ body }, call) => {
    const min_start_time = body.min_start_time ?? dayAgo();
    return threads.aggregates(tenantOf(call), { ...body, min_start_time });
  },

  groupRuns: ({ body }, call) => threads.groups(tenantOf(call), body),
});

export const traceThreadHandlers = (
  threads: TraceThreadService,
  traces: TraceService,
): Handlers<typeof traceThreadRoutes> => {
  const runsOf = async (thread_id: string, query: ThreadRunsQuery, call: Call) => {
    const { session_id, is_root, limit, cursor } = query;
    const filter = `eq(thread_id, ${JSON.stringify(thread_id)})`;
    const runQuery = { session: [session_id], is_root, filter, order: 'asc' as const, limit, cursor };
    return toRunPage(await traces.query(readerOf(call), runQuery));
  };
  return {
    queryTraceThreads: async ({ body }, call) => {
      const page = await threads.query(tenantOf(call), body);
      return asRequested({ text: JSON.stringify(page), isCut: false }, call);
    },

    listTraceThreadRuns: ({ params, query }, call) => runsOf(params.thread_id, query, call),

    listRunsOfTraceThread: ({ query }, call) => runsOf(query.thread_id, query, call),
  };
};

type ThreadRunsQuery = RouteInput<(typeof traceThreadRoutes)['listTraceThreadRuns']>['query'];
