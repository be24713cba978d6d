import type { runRoutes } from '@svc/contract';
import { EventFeed, Late, Reply, type Call, type Handlers } from '../handlers.ts';
import type { Subscription } from '../../events/run-streams.ts';
import { toRunRequest } from './run-request.ts';
import { resultText, type Followed, type RunRequest, type RunService } from './run-service.ts';

const feed = (events: Subscription | undefined, asked?: string[]): EventFeed =>
  new EventFeed((sink) => {
    if (!events) {
      sink.end();
      return () => undefined;
    }
    const wanted = asked && asked.length > 0 ? new Set(asked.map(eventOf)) : undefined;
    events.attach({
      event: (event) => {
        if (!wanted || isWanted(event.event, wanted)) sink.send(event);
      },
      end: () => sink.end(),
    });
    return () => events.close();
  });

const eventOf = (mode: string): string => (mode === 'messages-tuple' ? 'messages' : mode);

/** A mode's events are those of its name, of `name|namespace`, and for `messages` also of `messages/…`. */
const isWanted = (event: string, wanted: ReadonlySet<string>): boolean => {
  const name = event.split(/[|/]/, 1)[0] ?? event;
  return wanted.has(name) || name === 'metadata' || name === 'error';
};

const path = (run: { thread_id: string; run_id: string }): string =>
  `/threads/${run.thread_id}/runs/${run.run_id}`;

const streamed = (followed: Followed): Reply<EventFeed> =>
  new Reply(feed(followed.events), {
    'content-location': path(followed.run),
    location: `${path(followed.run)}/stream`,
  });

const awaited = ({ run, outcome }: Followed): Reply<Late> =>
  new Reply(new Late(outcome.then(resultText)), {
    'content-location': path(run),
    location: `${path(run)}/join`,
  });

/** Garbage is no position, and a position that is none reads like no header: live events only. */
const lastEventId = (header: string | undefined): number | undefined =>
  header !== undefined && /^-?\d{1,15}$/.test(header) ? Number(header) : undefined;

export const runHandlers = (runs: RunService): Handlers<typeof runRoutes> => {
  /** A run that its client wants to end with the connection does. */
  const tie = (followed: Followed, request: RunRequest, call: Call): Followed => {
    if (request.cancelOnDisconnect) {
      call.signal.addEventListener('abort', () => runs.abandon(followed.run.run_id), { once: true });
    }
    return followed;
  };
  const create = async (thread_id: string | null, request: RunRequest) => {
    const run = await runs.create(thread_id, request);
    return new Reply(run, { 'content-location': path(run) });
  };
  const stream = async (thread_id: string | null, request: RunRequest, call: Call) =>
    streamed(tie(await runs.stream(thread_id, request), request, call));
  const wait = async (thread_id: string | null, request: RunRequest, call: Call) =>
    awaited(tie(await runs.wait(thread_id, request), request, call));
  return {
    createRun: ({ params, body }) => create(params.thread_id, toRunRequest(body)),
    streamRun: ({ params, body }, call) => stream(params.thread_id, toRunRequest(body), call),
    waitRun: ({ params, body }, call) => wait(params.thread_id, toRunRequest(body), call),
    createStatelessRun: ({ body }) => create(null, toRunRequest(body)),
    streamStatelessRun: ({ body }, call) => stream(null, toRunRequest(body), call),
    waitStatelessRun: ({ body }, call) => wait(null, toRunRequest(body), call),
    createRunBatch: async ({ body }) => {
      const requests = body.map(toRunRequest);
      return Promise.all(requests.map((request) => runs.create(null, request)));
    },
    listRuns: ({ params, query }) => runs.list(params.thread_id, query),
    getRun: ({ params }) => runs.get(params.thread_id, params.run_id),
    deleteRun: async ({ params }) => {
      await runs.delete(params.thread_id, params.run_id);
    },
    joinRun: ({ params }) => runs.join(params.thread_id, params.run_id),
    joinRunStream: async ({ params, query }, call) =>
      feed(
        await runs.joinStream(params.thread_id, params.run_id, lastEventId(call.header('last-event-id'))),
        query.stream_mode,
      ),
    joinStatelessRunStream: async ({ params, query }, call) =>
      feed(
        await runs.joinStream(null, params.run_id, lastEventId(call.header('last-event-id'))),
        query.stream_mode,
      ),
  };
};
