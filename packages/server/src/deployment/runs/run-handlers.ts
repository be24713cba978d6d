import type {
  runFigureRoutes,
  runRoutes,
  runSearchRoutes,
  runTimelineRoutes,
  runChangeRoutes,
} from '@svc/contract';
import { invalid } from '@svc/contract/problem';
import {
  type Call,
  EventStreamResponse,
  type Handlers,
  RawJson,
  Reply,
  type SseBody,
} from '../../api/handlers.ts';
import { textPage } from '../../api/pagination.ts';
import { readAccess } from '../threads/read-access.ts';
import type { ThreadRunStream } from '../threads/thread-run-stream.ts';
import { unlessGone } from '../unless-gone.ts';
import { lastEventId, threadPosition } from './call-headers.ts';
import { cancelAccess, type RunCanceller } from './run-canceller.ts';
import { creationHandlers } from './run-creation-handlers.ts';
import { runEventResponse } from './run-event-response.ts';
import type { RunFeedback } from './run-feedback.ts';
import type { RunFigureService } from './run-figure-service.ts';
import type { RunInputSender } from './run-input-sender.ts';
import type { RunOutcomeReader } from './run-outcome-reader.ts';
import type { RunGranter } from './run-grant.ts';
import type { RunSearchService } from './run-search-service.ts';
import type { RunService } from './run-service.ts';
import type { RunTimelineService } from './run-timeline-service.ts';
import type { RunChangeNotifier } from './run-change-notifier.ts';

export interface RunParts extends RunSearchParts {
  runs: RunService;
  timelines: RunTimelineService;
  granter: RunGranter;
  inputs: RunInputSender;
  outcomes: RunOutcomeReader;
  canceller: RunCanceller;
  threadEvents: ThreadRunStream;
  /** Undefined when runs are not traced. */
  feedback: RunFeedback | undefined;
  /** In a project with a file of the stock server, the events of a run that cannot be read are one `error` event. */
  compat: boolean;
}

type RunHandlers = Handlers<
  typeof runRoutes & typeof runFigureRoutes & typeof runSearchRoutes & typeof runTimelineRoutes
>;

export const runHandlers = (parts: RunParts): RunHandlers => {
  const { runs, timelines, outcomes, canceller, threadEvents, compat } = parts;
  const joinStream = async (
    thread_id: string | null,
    run_id: string,
    query: { stream_mode?: string[] | undefined; cancel_on_disconnect?: boolean | undefined },
    call: Call,
  ) => {
    const access = await readAccess(call.authorizer, { thread_id: thread_id ?? undefined, run_id });
    // Authorized before a stream is opened, which an error would have to close.
    const cancelling =
      query.cancel_on_disconnect && thread_id !== null
        ? { run: { thread_id, run_id }, access: await cancelAccess(call.authorizer, { thread_id }) }
        : undefined;
    const opening = outcomes.subscribe(thread_id, run_id, access, lastEventId(call));
    const subscription = await (compat && thread_id !== null ? opening.catch(unlessGone) : opening);
    if (subscription === undefined) {
      const isThreadRead =
        thread_id !== null && (await runs.list(thread_id, { limit: 1, offset: 0 }, access).catch(unlessGone));
      return failedStream(`404: ${isThreadRead ? 'Run' : 'Thread'} not found`);
    }
    if (cancelling) canceller.cancelOnDisconnect(call.signal, cancelling.run, cancelling.access);
    return runEventResponse(subscription, { modes: query.stream_mode });
  };
  return {
    ...creationHandlers(parts),
    ...runSearchHandlers(parts),
    getRunTimeline: async ({ params }, { authorizer }) =>
      timelines.read(params.thread_id, params.run_id, await readAccess(authorizer, params)),
    listRuns: async ({ params, query }, { authorizer }) =>
      textPage(await runs.list(params.thread_id, query, await readAccess(authorizer, params)), query.offset),
    getRun: async ({ params }, { authorizer }) =>
      new RawJson(await runs.get(params.thread_id, params.run_id, await readAccess(authorizer, params))),
    deleteRun: async ({ params }, { authorizer }) => {
      const { access } = await authorizer.authorize('threads:delete', params);
      await runs.delete(params.thread_id, params.run_id, access);
    },
    cancelRun: async ({ params, query }, { authorizer }) => {
      const { action = 'interrupt', wait = false } = query;
      const { thread_id, run_id } = params;
      if (query.reason !== undefined && action === 'rollback')
        throw invalid(['query', 'reason'], 'reason cannot be combined with the action rollback');
      const access = await cancelAccess(authorizer, params, action);
      await canceller.cancel(thread_id, run_id, { action, wait, isTaken: query.reason === 'taken', access });
      return wait ? new Reply({}, { isEmpty: true }) : {};
    },
    cancelRuns: async ({ query, body }, { authorizer }) => {
      const action = query.action ?? 'interrupt';
      const { thread_id, run_ids, status } = body;
      const access = await cancelAccess(authorizer, { thread_id }, action);
      const statuses: ('pending' | 'running')[] =
        status === 'pending' || status === 'running' ? [status] : ['pending', 'running'];
      if (thread_id && run_ids)
        return { runs: await canceller.cancelNamed(thread_id, run_ids, { action, access }) };
      await canceller.cancelAll(statuses, { action, access });
      return new Reply({ runs: [] }, { isEmpty: true });
    },
    joinRun: async ({ params, query }, call) => {
      const { thread_id, run_id } = params;
      const access = await readAccess(call.authorizer, params);
      const cancelling = query.cancel_on_disconnect ? await cancelAccess(call.authorizer, params) : undefined;
      const response = await outcomes.join(thread_id, run_id, access);
      if (cancelling) canceller.cancelOnDisconnect(call.signal, params, cancelling);
      return response;
    },
    joinRunStream: ({ params, query }, call) => joinStream(params.thread_id, params.run_id, query, call),
    joinStatelessRunStream: ({ params, query }, call) => joinStream(null, params.run_id, query, call),
    joinThreadStream: async ({ params, query }, call) => {
      const modes = [...(query.stream_mode ?? []), ...(query.stream_modes ?? [])];
      const access = await readAccess(call.authorizer, params);
      const { thread_id } = params;
      const source = await threadEvents.open({ thread_id, access }, threadPosition(call), modes);
      return new EventStreamResponse(source);
    },
  };
};

const failedStream = (message: string): SseBody =>
  new EventStreamResponse((sink) => {
    sink.send({ event: 'error', data: JSON.stringify({ error: 'Error', message }) });
    return Promise.resolve();
  });

interface RunSearchParts {
  searches: RunSearchService;
  figures: RunFigureService;
}

const listOf = <T extends string>(one: T | T[] | undefined): T[] | undefined =>
  typeof one === 'string' ? [one] : one;

/** Runs across threads. */
const runSearchHandlers = ({
  searches,
  figures,
}: RunSearchParts): Handlers<typeof runSearchRoutes & typeof runFigureRoutes> => ({
  searchRuns: async ({ body }, { authorizer }) => {
    const { status, ...rest } = body;
    const access = await readAccess(authorizer, { thread_id: body.thread_id, run_id: body.run_id });
    const { rows, next, limitedBy } = await searches.search({ ...rest, status: listOf(status) }, access);
    return new Reply(RawJson.list(rows), { next: next ?? undefined, limitedBy });
  },
  getRunFigures: async ({ body }, { authorizer }) => {
    const { status, ...rest } = body;
    const access = await readAccess(authorizer, { thread_id: body.thread_id });
    return figures.read({ ...rest, status: listOf(status) }, access);
  },
});

export const runChangeHandlers = (changes: RunChangeNotifier): Handlers<typeof runChangeRoutes> => ({
  streamRunChanges: async (_, call) => {
    const access = await readAccess(call.authorizer, {});
    changes.assertOpen();
    return new EventStreamResponse((sink, stop) => changes.read(access, sink, stop), 'none');
  },
});
