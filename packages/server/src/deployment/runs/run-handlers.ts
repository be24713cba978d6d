import type { runRoutes } from '@svc/contract';
import type { Access } from '../../auth/authorization/authorizer.ts';
import type { RowFilter } from '../../storage/postgres/row-filter.ts';
import type { RunLogStorage } from '../../storage/deployment/run-log.ts';
import { EventFeed, RawJson, Reply, type Call, type Handlers } from '../../api/handlers.ts';
import { textPage } from '../../api/pagination.ts';
import { mayRead } from '../threads/may-read.ts';
import type { ThreadWatch } from '../threads/thread-watch.ts';
import { lastEventId, threadPosition } from './call-headers.ts';
import type { RunCanceller } from './run-canceller.ts';
import { creationHandlers } from './run-creation-handlers.ts';
import { runFeed } from './run-feed.ts';
import type { RunOutcomeReader } from './run-outcome-reader.ts';
import type { RunGranter } from './run-grant.ts';
import type { RunService } from './run-service.ts';

export interface RunParts {
  runs: RunService;
  granter: RunGranter;
  follower: RunOutcomeReader;
  canceller: RunCanceller;
  watch: ThreadWatch;
  log: RunLogStorage;
}

interface RunPath {
  thread_id?: string | undefined;
  run_id?: string | undefined;
}

export const runHandlers = (parts: RunParts): Handlers<typeof runRoutes> => {
  const { runs, follower, canceller, watch } = parts;
  const joinStream = async (
    thread_id: string | null,
    run_id: string,
    query: { stream_mode?: string[] | undefined; cancel_on_disconnect?: boolean | undefined },
    call: Call,
  ) => {
    const access = await mayRead(call.access, { thread_id: thread_id ?? undefined, run_id });
    // Asked before anything is opened that would have to be closed again.
    const cancelling =
      query.cancel_on_disconnect && thread_id !== null
        ? { run: { thread_id, run_id }, access: await mayCancel(call.access, { thread_id }) }
        : undefined;
    const reading = await follower.reading(thread_id, run_id, access, lastEventId(call));
    if (cancelling) canceller.tie(call.signal, cancelling.run, cancelling.access);
    return runFeed(reading, query.stream_mode);
  };
  return {
    ...creationHandlers(parts),
    listRuns: async ({ params, query }, { access }) =>
      textPage(await runs.list(params.thread_id, query, await mayRead(access, params)), query.offset),
    getRun: async ({ params }, { access }) =>
      new RawJson(await runs.get(params.thread_id, params.run_id, await mayRead(access, params))),
    deleteRun: async ({ params }, { access }) => {
      const { filter } = await access.ask('threads:delete', params);
      await runs.delete(params.thread_id, params.run_id, filter);
    },
    cancelRun: async ({ params, query }, { access: asked }) => {
      const { action = 'interrupt', wait = false } = query;
      const { thread_id, run_id } = params;
      const access = await mayCancel(asked, params, action);
      await canceller.cancel(thread_id, run_id, { action, wait, access });
      return wait ? new Reply({}, { isEmpty: true }) : {};
    },
    cancelRuns: async ({ query, body }, { access: asked }) => {
      const action = query.action ?? 'interrupt';
      const { thread_id, run_ids, status } = body;
      const access = await mayCancel(asked, { thread_id }, action);
      const statuses: ('pending' | 'running')[] =
        status === 'pending' || status === 'running' ? [status] : ['pending', 'running'];
      if (thread_id && run_ids)
        return { runs: await canceller.cancelNamed(thread_id, run_ids, { action, access }) };
      await canceller.cancelAll(statuses, { action, access });
      return new Reply({ runs: [] }, { isEmpty: true });
    },
    joinRun: async ({ params, query }, call) => {
      const { thread_id, run_id } = params;
      const access = await mayRead(call.access, params);
      const cancelling = query.cancel_on_disconnect ? await mayCancel(call.access, params) : undefined;
      const late = await follower.join(thread_id, run_id, access);
      if (cancelling) canceller.tie(call.signal, params, cancelling);
      return late;
    },
    joinRunStream: ({ params, query }, call) => joinStream(params.thread_id, params.run_id, query, call),
    joinStatelessRunStream: ({ params, query }, call) => joinStream(null, params.run_id, query, call),
    joinThreadStream: async ({ params, query }, call) => {
      const modes = [...(query.stream_mode ?? []), ...(query.stream_modes ?? [])];
      const access = await mayRead(call.access, params);
      const watching = await watch.open(params.thread_id, access, threadPosition(call), modes);
      return new EventFeed((sink) => watching.start(sink));
    },
  };
};

const mayCancel = async (
  access: Access,
  { thread_id }: RunPath,
  action: 'interrupt' | 'rollback' = 'interrupt',
): Promise<RowFilter> =>
  (await access.ask('threads:update', { thread_id, metadata: undefined, action })).filter;
