import * as z from 'zod';
import { Empty, Id, Json, nullish, QueryBoolean, queryList } from '../json.ts';
import { pageHeaders, queryLimit, queryOffset } from '../page.ts';
import { routesOf } from '../route.ts';
import { RunCreate, RunInput, StatelessRunCreate } from './run-create.ts';
import { Run, RunStatus } from './run.ts';
import { StreamMode, ThreadStreamMode } from './stream-modes.ts';

// Keys that stock clients send with runs and that the server does not use, with the reason.

/** Sent by stock clients with every run. */
const ignoredInRuns = {
  strict_resume: 'The server does not announce this feature.',
};
const ignoredOnThreads = { ...ignoredInRuns, on_completion: 'The thread of the run stays.' };
const needsThread = 'A stateless run has no other runs and no checkpoints.';
const ignoredWithoutThread = {
  ...ignoredInRuns,
  checkpoint: needsThread,
  checkpoint_id: needsThread,
  if_not_exists: needsThread,
  multitask_strategy: needsThread,
};
const unconverted =
  'Stock JavaScript clients send the options of a batch also under names that the API does not have.';
/** `createBatch` of stock JavaScript clients sends the options as they were passed to it. */
const ignoredInBatch = Object.fromEntries([
  ...Object.entries(ignoredWithoutThread),
  ...[
    'assistantId',
    'afterSeconds',
    'checkpointDuring',
    'checkpointId',
    'feedbackKeys',
    'ifNotExists',
    'interruptAfter',
    'interruptBefore',
    'multitaskStrategy',
    'onCompletion',
    'onDisconnect',
    'signal',
    'streamIdleReconnect',
    'streamMode',
    'streamResumable',
    'streamSubgraphs',
    '_langsmithTracer',
  ].map((key) => [key, unconverted] as const),
]);
const ignoredInStreams = { namespace: 'Streams have the events of all subgraphs, or of none.' };
const ignoredInJoins = {
  ...ignoredInStreams,
  checkpoint_id: 'The stream has the whole run, also what the client shows already.',
};

const BatchRunCreate = StatelessRunCreate.meta({ id: 'BatchRunCreate' });
const threadParams = z.object({ thread_id: Id });
const runParams = z.object({ thread_id: Id, run_id: Id });
const create = { resource: 'threads', action: 'create_run' } as const;
const read = { resource: 'threads', action: 'read' } as const;
const route = routesOf('Runs');
const located = {
  'Content-Location': 'Path of the run',
  Location: 'Path that continues the response after a broken connection',
};
/** Only the graph reads these. */
const textFields = ['input', 'context'] as const;
const anyText = ['input', 'command', 'context'] as const;
const createErrors = ['not_found', 'conflict', 'not_supported'] as const;
export const cancelAction = z
  .enum(['interrupt', 'rollback'])
  .describe('`interrupt` keeps what the run has written; `rollback` removes the run and its checkpoints');
const requestHeaders = {
  'Idempotency-Key':
    'A name that you choose for the run: a second request with the same name and body returns the same run',
};
const streamQuery = z.object({
  stream_mode: queryList(StreamMode),
  cancel_on_disconnect: QueryBoolean.optional(),
});

export const runRoutes = {
  createRunBatch: route('post', '/runs/batch', {
    summary: 'Create stateless background runs, either all or none of them',
    access: create,
    body: z
      .array(BatchRunCreate, {
        error: 'must be a list of runs to create; traces are sent to /api/v1/runs/batch',
      })
      .min(1)
      .max(100),
    anyText: anyText.map((name) => `*.${name}`),
    ignored: { body: ignoredInBatch },
    response: z.array(Run),
    requestHeaders,
    errors: createErrors,
  }),
  cancelRuns: route('post', '/runs/cancel', {
    summary: 'Cancel many runs: named ones of a thread (404 when none is in flight), or all with a status',
    access: { resource: 'threads', action: 'update' },
    description: 'The body has either `thread_id` and `run_ids`, or `status`.',
    query: z.object({ action: cancelAction.optional() }),
    body: z
      .object({
        thread_id: nullish(Id),
        run_ids: nullish(z.array(Id).min(1).max(1_000)),
        status: nullish(z.enum(['pending', 'running', 'all'])),
      })
      .refine(
        ({ thread_id, run_ids, status }) =>
          status === undefined ? Boolean(thread_id && run_ids) : !thread_id && !run_ids,
        'needs either thread_id and run_ids, or status',
      ),
    response: z
      .object({
        runs: z.array(
          z.object({
            run_id: Id,
            outcome: z
              .enum(['cancelled', 'stopping', 'over', 'not_found'])
              .describe('`stopping`: the run still executes, and its executor was asked to stop'),
          }),
        ),
      })
      .describe('The outcome of each named run'),
    empty: 'With `status`: all runs with the status are cancelled',
    errors: ['not_found'],
  }),
  streamStatelessRun: route('post', '/runs/stream', {
    summary: 'Create a stateless run and stream its events',
    access: create,
    kind: 'sse',
    body: StatelessRunCreate,
    textFields,
    anyText,
    ignored: { body: ignoredWithoutThread, query: ignoredInStreams },
    response: z.string(),
    headers: located,
    requestHeaders,
    errors: createErrors,
  }),
  waitStatelessRun: route('post', '/runs/wait', {
    summary: 'Create a stateless run and wait for its result',
    access: create,
    kind: 'deferred',
    body: StatelessRunCreate,
    textFields,
    anyText,
    ignored: { body: ignoredWithoutThread },
    response: Json,
    headers: located,
    requestHeaders,
    errors: createErrors,
  }),
  createStatelessRun: route('post', '/runs', {
    summary: 'Create a stateless run in the background',
    access: create,
    body: StatelessRunCreate,
    textFields,
    anyText,
    ignored: { body: ignoredWithoutThread },
    response: Run,
    headers: located,
    requestHeaders,
    errors: createErrors,
  }),
  joinStatelessRunStream: route('get', '/runs/:run_id/stream', {
    summary: 'Join the stream of a stateless run',
    access: read,
    kind: 'sse',
    changes: { when: 'cancel_on_disconnect' },
    params: z.object({ run_id: Id }),
    query: streamQuery,
    ignored: { query: ignoredInJoins },
    response: z.string(),
    errors: ['not_found'],
  }),
  streamRun: route('post', '/threads/:thread_id/runs/stream', {
    summary: 'Run on a thread and stream its events',
    access: create,
    kind: 'sse',
    params: threadParams,
    body: RunCreate,
    textFields,
    anyText,
    ignored: { body: ignoredOnThreads, query: ignoredInStreams },
    response: z.string(),
    headers: located,
    requestHeaders,
    errors: createErrors,
  }),
  waitRun: route('post', '/threads/:thread_id/runs/wait', {
    summary: 'Run on a thread and wait for the result',
    access: create,
    kind: 'deferred',
    params: threadParams,
    body: RunCreate,
    textFields,
    anyText,
    ignored: { body: ignoredOnThreads },
    response: Json,
    headers: located,
    requestHeaders,
    errors: createErrors,
  }),
  createRun: route('post', '/threads/:thread_id/runs', {
    summary: 'Run on a thread in the background',
    access: create,
    params: threadParams,
    body: RunCreate,
    textFields,
    anyText,
    ignored: { body: ignoredOnThreads },
    response: Run,
    headers: located,
    requestHeaders,
    errors: createErrors,
  }),
  sendRunInput: route('post', '/threads/:thread_id/runs/:run_id/input', {
    summary: 'Send an input into a run, which takes it before its next superstep',
    description:
      'The response is a pending run that holds the input. When the other run takes the input, this one ends with a `cancel_reason` that begins with `taken:`; when the other run ends first, it follows as any queued run. 409 while the thread waits for an answer, 429 when 100 inputs wait.',
    access: create,
    params: runParams,
    body: RunInput,
    anyText: ['input'],
    response: Run,
    headers: { 'Content-Location': located['Content-Location'] },
    requestHeaders,
    errors: [...createErrors, 'too_large', 'rate_limited'],
  }),
  listRuns: route('get', '/threads/:thread_id/runs', {
    summary: 'Runs of a thread, newest first',
    access: read,
    params: threadParams,
    query: z.object({
      limit: queryLimit,
      offset: queryOffset,
      status: RunStatus.optional(),
      select: queryList(z.string().max(64)).describe('The fields that are returned; all of them by default'),
    }),
    response: z.array(Run),
    headers: pageHeaders,
    errors: ['not_found'],
  }),
  getRun: route('get', '/threads/:thread_id/runs/:run_id', {
    summary: 'Get a run',
    access: read,
    params: runParams,
    response: Run,
    errors: ['not_found'],
  }),
  deleteRun: route('delete', '/threads/:thread_id/runs/:run_id', {
    audited: 'run.delete',
    summary: 'Delete a run that has ended, with the checkpoints it created',
    access: { resource: 'threads', action: 'delete' },
    params: runParams,
    status: 204,
    response: Empty,
    errors: ['not_found', 'conflict'],
  }),
  cancelRun: route('post', '/threads/:thread_id/runs/:run_id/cancel', {
    summary: 'Cancel a run: 202 at once, or with wait 204 after its last write',
    empty: 'With `wait`: the run has ended',
    access: { resource: 'threads', action: 'update' },
    params: runParams,
    query: z.object({
      wait: QueryBoolean.optional(),
      action: cancelAction.optional(),
      reason: z
        .enum(['taken'])
        .optional()
        .describe(
          '`taken`: another run has absorbed the input; `cancel_reason` begins with `taken:`. Not with the action `rollback`',
        ),
    }),
    status: 202,
    response: z.object({}),
    errors: ['not_found'],
  }),
  joinRun: route('get', '/threads/:thread_id/runs/:run_id/join', {
    summary: 'Wait for a run and get its result',
    access: read,
    kind: 'deferred',
    changes: { when: 'cancel_on_disconnect' },
    params: runParams,
    query: z.object({ cancel_on_disconnect: QueryBoolean.optional() }),
    response: Json,
    errors: ['not_found'],
  }),
  joinRunStream: route('get', '/threads/:thread_id/runs/:run_id/stream', {
    summary: 'Join the stream of a run',
    access: read,
    kind: 'sse',
    changes: { when: 'cancel_on_disconnect' },
    params: runParams,
    query: streamQuery,
    ignored: { query: ignoredInJoins },
    response: z.string(),
    errors: ['not_found'],
  }),
  joinThreadStream: route('get', '/threads/:thread_id/stream', {
    summary: 'Events of all runs of a thread, one run after the other; the stream does not end by itself',
    access: read,
    kind: 'sse',
    params: threadParams,
    query: z.object({
      stream_mode: queryList(ThreadStreamMode),
      stream_modes: queryList(ThreadStreamMode),
    }),
    response: z.string(),
    errors: ['not_found'],
  }),
};

export const runChangeRoutes = {
  streamRunChanges: route('get', '/runs/changes', {
    summary: 'Stream notifications of changed runs',
    description:
      'Event `runs`: runs that you may read were created or have changed. `thread_ids` has their threads, at most 100. Without it, any run may have changed: read your lists again. That is the first event of a stream, and follows what you may have missed. There is at most one event in a second. The stream does not end by itself.',
    access: { resource: 'threads', action: 'read' },
    kind: 'sse',
    response: z.string(),
  }),
};
