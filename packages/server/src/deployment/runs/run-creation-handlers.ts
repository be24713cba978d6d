// Handlers that make runs, in the background, streamed or awaited, on a thread or without one.
import type { runRoutes } from '@svc/contract';
import type { RunLogStorage } from '../../storage/run-log.ts';
import { Late, Reply, type Call, type Handlers } from '../handlers.ts';
import { idempotencyKey } from './call-headers.ts';
import type { RunCanceller } from './run-canceller.ts';
import { runFeed } from './run-feed.ts';
import type { RunFollower } from './run-follower.ts';
import { toRunRequest } from './run-request.ts';
import type { RunRequest, RunService } from './run-service.ts';

interface CreationParts {
  runs: RunService;
  follower: RunFollower;
  canceller: RunCanceller;
  log: RunLogStorage;
}

type CreationRoutes = Pick<
  typeof runRoutes,
  | 'createRun'
  | 'streamRun'
  | 'waitRun'
  | 'createStatelessRun'
  | 'streamStatelessRun'
  | 'waitStatelessRun'
  | 'createRunBatch'
>;

const path = (run: { thread_id: string; run_id: string }): string =>
  `/threads/${run.thread_id}/runs/${run.run_id}`;

export const creationHandlers = ({
  runs,
  follower,
  canceller,
  log,
}: CreationParts): Handlers<CreationRoutes> => {
  const create = async (thread_id: string | null, request: RunRequest) => {
    const { run, release } = await runs.create(thread_id, request);
    release();
    return new Reply(run, { 'content-location': path(run) });
  };
  const stream = async (thread_id: string | null, request: RunRequest, call: Call) => {
    const created = await runs.create(thread_id, request, { streamed: true });
    const { run, isNew, stream: source, release } = created;
    const reading = { run_id: run.run_id, live: source.subscribe(), log, after: isNew ? undefined : -1 };
    release();
    if (request.cancelOnDisconnect) canceller.tie(call.signal, run);
    return new Reply(runFeed(reading), {
      'content-location': path(run),
      location: `${path(run)}/stream`,
    });
  };
  const wait = async (thread_id: string | null, request: RunRequest, call: Call) => {
    const { run, stream: source } = await runs.create(thread_id, request, { awaited: true });
    if (request.cancelOnDisconnect) canceller.tie(call.signal, run);
    return new Reply(new Late(follower.result(run, source.outcome)), {
      'content-location': path(run),
      location: `${path(run)}/join`,
    });
  };
  return {
    createRun: ({ params, body }, call) => create(params.thread_id, toRunRequest(body, idempotencyKey(call))),
    streamRun: ({ params, body }, call) =>
      stream(params.thread_id, toRunRequest(body, idempotencyKey(call)), call),
    waitRun: ({ params, body }, call) =>
      wait(params.thread_id, toRunRequest(body, idempotencyKey(call)), call),
    createStatelessRun: ({ body }, call) => create(null, toRunRequest(body, idempotencyKey(call))),
    streamStatelessRun: ({ body }, call) => stream(null, toRunRequest(body, idempotencyKey(call)), call),
    waitStatelessRun: ({ body }, call) => wait(null, toRunRequest(body, idempotencyKey(call)), call),
    createRunBatch: async ({ body }, call) => {
      const key = idempotencyKey(call);
      const requests = body.map((one, at) => toRunRequest(one, key === undefined ? key : `${key} ${at}`));
      const created = await Promise.all(requests.map((request) => runs.create(null, request)));
      for (const { release } of created) release();
      return created.map(({ run }) => run);
    },
  };
};
