import type { traceThreadRoutes } from '@svc/contract';
import type { Call, Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import { asRequested } from '../traces/run-read-handlers.ts';
import { toRunPage } from '../traces/run-page.ts';
import type { TraceService } from '../traces/trace-service.ts';
import type { TraceThreadService } from './trace-thread-service.ts';

export const traceThreadHandlers = (
  threads: TraceThreadService,
  traces: TraceService,
): Handlers<typeof traceThreadRoutes> => {
  const runsOf = async (thread_id: string, query: ThreadRunsQuery, call: Call) => {
    const { session_id, is_root, limit, cursor } = query;
    const filter = `eq(thread_id, ${JSON.stringify(thread_id)})`;
    const runQuery = { session: [session_id], is_root, filter, order: 'asc' as const, limit, cursor };
    return toRunPage(await traces.query(grantOf(call.caller).tenant_id, runQuery));
  };
  return {
    queryTraceThreads: async ({ body }, call) => {
      const page = await threads.query(grantOf(call.caller).tenant_id, body);
      return asRequested({ text: JSON.stringify(page), isCut: false }, call);
    },

    listTraceThreadRuns: ({ params, query }, call) => runsOf(params.thread_id, query, call),

    listRunsOfTraceThread: ({ query }, call) => runsOf(query.thread_id, query, call),
  };
};

interface ThreadRunsQuery {
  session_id: string;
  is_root?: boolean | undefined;
  limit: number;
  cursor?: string | undefined;
}
