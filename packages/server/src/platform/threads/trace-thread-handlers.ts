import type { traceThreadRoutes } from '@svc/contract';
import { type Handlers, RawJson } from '../../deployment/handlers.ts';
import { grantOf } from '../grant-of.ts';
import type { TraceService } from '../traces/trace-service.ts';
import type { TraceThreadService } from './trace-thread-service.ts';

export const traceThreadHandlers = (
  threads: TraceThreadService,
  traces: TraceService,
): Handlers<typeof traceThreadRoutes> => ({
  queryTraceThreads: ({ body }, call) => threads.query(grantOf(call).tenant_id, body),

  listTraceThreadRuns: async ({ params, query }, call) => {
    const { session_id, is_root, limit, cursor } = query;
    const filter = `eq(thread_id, ${JSON.stringify(params.thread_id)})`;
    const asked = { session: [session_id], is_root, filter, order: 'asc' as const, limit, cursor };
    return new RawJson(await traces.query(grantOf(call).tenant_id, asked));
  },
});
