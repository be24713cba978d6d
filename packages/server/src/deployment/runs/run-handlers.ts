import type { runRoutes } from '@svc/contract';
import type { RunLogStorage } from '../../storage/run-log.ts';
import { EventFeed, Reply, type Call, type Handlers } from '../handlers.ts';
import type { ThreadWatch } from '../threads/thread-watch.ts';
import { lastEventId, threadPosition } from './call-headers.ts';
import type { RunCanceller } from './run-canceller.ts';
import { creationHandlers } from './run-creation-handlers.ts';
import { runFeed } from './run-feed.ts';
import type { RunFollower } from './run-follower.ts';
import type { RunService } from './run-service.ts';

export interface RunParts {
  runs: RunService;
  follower: RunFollower;
  canceller: RunCanceller;
  watch: ThreadWatch;
  log: RunLogStorage;
}

export const runHandlers = (parts: RunParts): Handlers<typeof runRoutes> => {
  const { runs, follower, canceller, watch } = parts;
  const joinStream = async (
    thread_id: string | null,
    run_id: string,
    query: { stream_mode?: string[] | undefined; cancel_on_disconnect?: boolean | undefined },
    call: Call,
  ) => {
    const reading = await follower.reading(thread_id, run_id, lastEventId(call));
    if (query.cancel_on_disconnect && thread_id !== null) canceller.tie(call.signal, { thread_id, run_id });
    return runFeed(reading, query.stream_mode);
  };
  return {
    ...creationHandlers(parts),
    listRuns: ({ params, query }) => runs.list(params.thread_id, query),
    getRun: ({ params }) => runs.get(params.thread_id, params.run_id),
    deleteRun: async ({ params }) => {
      await runs.delete(params.thread_id, params.run_id);
    },
    cancelRun: async ({ params, query }) => {
      const { action = 'interrupt', wait: waits = false } = query;
      await canceller.cancel(params.thread_id, params.run_id, { action, wait: waits });
      return waits ? new Reply({}, {}, 204) : {};
    },
    cancelRuns: async ({ query, body }) => {
      const action = query.action ?? 'interrupt';
      const { thread_id, run_ids, status } = body;
      const statuses: ('pending' | 'running')[] =
        status === 'pending' || status === 'running' ? [status] : ['pending', 'running'];
      if (thread_id && run_ids) await canceller.cancelNamed(thread_id, run_ids, action);
      else await canceller.cancelAll(statuses, action);
      return undefined;
    },
    joinRun: async ({ params, query }, call) => {
      const late = await follower.join(params.thread_id, params.run_id);
      if (query.cancel_on_disconnect) canceller.tie(call.signal, params);
      return late;
    },
    joinRunStream: ({ params, query }, call) => joinStream(params.thread_id, params.run_id, query, call),
    joinStatelessRunStream: ({ params, query }, call) => joinStream(null, params.run_id, query, call),
    joinThreadStream: async ({ params, query }, call) => {
      const modes = [...(query.stream_mode ?? []), ...(query.stream_modes ?? [])];
      const watching = await watch.open(params.thread_id, threadPosition(call), modes);
      return new EventFeed((sink) => watching.start(sink));
    },
  };
};
