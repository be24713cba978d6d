import type { threadReadRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import { toRunPage } from '../traces/run-page.ts';
import { dayAgo } from '../traces/run-read-service.ts';
import type { ThreadReadService } from './thread-read-service.ts';

export const threadReadHandlers = (threads: ThreadReadService): Handlers<typeof threadReadRoutes> => ({
  listThreadTraces: async ({ params, query }, call) => {
    const { project_id, filter, trace_filter, tree_filter } = query;
    const thread = { project_id, thread_id: params.thread_id };
    const selection = { filter, trace_filter, tree_filter };
    return toRunPage(await threads.turns(grantOf(call.caller).tenant_id, thread, selection, query));
  },

  getThreadStats: ({ params, query }, call) => {
    const { session_id, filter, selects } = query;
    const thread = { session_id, thread_id: params.thread_id, filter };
    return threads.stats(grantOf(call.caller).tenant_id, thread, selects);
  },

  getThreadAggregates: ({ body }, call) => {
    const min_start_time = body.min_start_time ?? dayAgo();
    return threads.aggregates(grantOf(call.caller).tenant_id, { ...body, min_start_time });
  },

  groupRuns: ({ body }, call) => threads.groups(grantOf(call.caller).tenant_id, body),
});
