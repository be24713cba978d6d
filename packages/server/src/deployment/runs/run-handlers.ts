import type { runRoutes } from '@svc/contract';
import { EventFeed, Late, Reply, type Handlers } from '../handlers.ts';
import type { Subscription } from '../../events/run-streams.ts';
import { toRunRequest } from './run-request.ts';
import { resultText, type Followed, type RunService } from './run-service.ts';

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

const awaited = ({ run, outcome }: Followed): Reply<Late> => {
  return new Reply(new Late(outcome.then(resultText)), {
    'content-location': path(run),
    location: `${path(run)}/join`,
  });
};

/** Garbage is no position, and a position that is none reads like no header: live events only. */
const lastEventId = (header: string | undefined): number | undefined =>
  header !== undefined && /^-?\d{1,15}$/.test(header) ? Number(header) : undefined;

export const runHandlers = (runs: RunService): Handlers<typeof runRoutes> => ({
  createRun: async ({ params, body }) => {
    const run = await runs.create(params.thread_id, toRunRequest(body));
    return new Reply(run, { 'content-location': path(run) });
  },
  streamRun: async ({ params, body }) => streamed(await runs.stream(params.thread_id, toRunRequest(body))),
  waitRun: async ({ params, body }) => awaited(await runs.wait(params.thread_id, toRunRequest(body))),
  createStatelessRun: async ({ body }) => {
    const run = await runs.create(null, toRunRequest(body));
    return new Reply(run, { 'content-location': path(run) });
  },
  streamStatelessRun: async ({ body }) => streamed(await runs.stream(null, toRunRequest(body))),
  waitStatelessRun: async ({ body }) => awaited(await runs.wait(null, toRunRequest(body))),
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
});
