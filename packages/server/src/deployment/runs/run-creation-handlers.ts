// Handlers that create runs: in the background, with a stream, or with a wait for the result; on a thread or stateless.
import type { RunCreate, runRoutes, StatelessRunCreate } from '@svc/contract';
import { everyRow } from '../../storage/postgres/row-filter.ts';
import { DeferredResponse, RawJson, Reply, type Call, type Handlers } from '../../api/handlers.ts';
import { idempotencyKey } from './call-headers.ts';
import type { RunCanceller } from './run-canceller.ts';
import { runEventResponse } from './run-event-response.ts';
import type { RunFeedback } from './run-feedback.ts';
import type { RunInputSender } from './run-input-sender.ts';
import type { RunOutcomeReader } from './run-outcome-reader.ts';
import type { RunGranter } from './run-grant.ts';
import { runText } from './run-record.ts';
import type { RunService } from './run-service.ts';

type Body = RunCreate | StatelessRunCreate;

interface CreationParts {
  runs: RunService;
  granter: RunGranter;
  inputs: RunInputSender;
  outcomes: RunOutcomeReader;
  canceller: RunCanceller;
  feedback: RunFeedback | undefined;
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
  | 'sendRunInput'
>;

const path = (run: { thread_id: string; run_id: string }): string =>
  `/threads/${run.thread_id}/runs/${run.run_id}`;

export const creationHandlers = ({
  runs,
  granter,
  inputs,
  outcomes,
  canceller,
  feedback,
}: CreationParts): Handlers<CreationRoutes> => {
  const linksOf = ({ run_id }: { run_id: string }, { feedback_keys: keys }: Body, call: Call) =>
    keys?.length ? feedback?.linksOf({ run_id, keys, address: call.address }) : undefined;
  const grant = (thread_id: string | null, body: Body, call: Call) =>
    granter.grantRequest(call, thread_id, body, idempotencyKey(call));
  const create = async (thread_id: string | null, body: Body, call: Call) => {
    const { run, release } = await runs.create(thread_id, await grant(thread_id, body, call));
    release();
    return new Reply(new RawJson(runText(run)), { self: path(run) });
  };
  const stream = async (thread_id: string | null, body: Body, call: Call) => {
    const granted = await grant(thread_id, body, call);
    const created = await runs.create(thread_id, granted, { streamed: true });
    const { run, isNew, stream: source, release } = created;
    const subscription = source.subscribe(isNew ? undefined : -1);
    release();
    if (granted.request.cancelOnDisconnect) canceller.cancelOnDisconnect(call.signal, run, everyRow);
    const links = linksOf(run, body, call);
    return new Reply(runEventResponse(subscription, { atEnd: links && ((sink) => links.sendTo(sink)) }), {
      self: path(run),
      continuation: `${path(run)}/stream`,
    });
  };
  const wait = async (thread_id: string | null, body: Body, call: Call) => {
    const granted = await grant(thread_id, body, call);
    const { run, stream: source } = await runs.create(thread_id, granted, { awaited: true });
    if (granted.request.cancelOnDisconnect) canceller.cancelOnDisconnect(call.signal, run, everyRow);
    const result = outcomes.result(run, source.outcome);
    return new Reply(new DeferredResponse(linksOf(run, body, call)?.addTo(result) ?? result), {
      self: path(run),
      continuation: `${path(run)}/join`,
    });
  };
  return {
    createRun: ({ params, body }, call) => create(params.thread_id, body, call),
    streamRun: ({ params, body }, call) => stream(params.thread_id, body, call),
    waitRun: ({ params, body }, call) => wait(params.thread_id, body, call),
    sendRunInput: async ({ params, body }, call) => {
      const run = await inputs.send(call, { ...params, ...body }, idempotencyKey(call));
      return new Reply(new RawJson(runText(run)), { self: path(run) });
    },
    createStatelessRun: ({ body }, call) => create(null, body, call),
    streamStatelessRun: ({ body }, call) => stream(null, body, call),
    waitStatelessRun: ({ body }, call) => wait(null, body, call),
    createRunBatch: async ({ body }, call) => {
      const key = idempotencyKey(call);
      const granted = await Promise.all(
        body.map((one, at) =>
          granter.grantRequest(call, null, one, key === undefined ? key : `${key} ${at}`),
        ),
      );
      const created = await runs.createAll(granted);
      return new RawJson(`[${created.map((run) => runText(run)).join(',')}]`);
    },
  };
};
