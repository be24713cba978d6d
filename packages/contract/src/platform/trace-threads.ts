import * as z from 'zod';
import { Id, nullish, Time, When } from '../json.ts';
import { routesOf } from '../route.ts';
import { noSearchByModel } from './run-reads.ts';
import { partial, traceRunPage, usageSums } from './traces.ts';

const route = routesOf('Threads of traces');

export const TraceThread = z
  .object({
    thread_id: z.string(),
    count: z.int().describe('Number of turns: traces with a trace run of the thread'),
    run_count: z.int(),
    runs_without_thread_id: z
      .int()
      .describe('Trace runs of these traces without a thread id, which are not counted'),
    notice: z.string().nullable().describe('Explains trace runs that are not counted'),
    first_inputs: z.string().nullable().describe('The beginning of the first message'),
    last_outputs: z.string().nullable().describe('The last message'),
    last_error: z.string().nullable(),
    num_errored_turns: z.int(),
    latency_p50: z.number().nullable().describe('Latency of turns, in seconds'),
    latency_p99: z.number().nullable(),
    min_start_time: Time,
    max_start_time: Time,
    ...usageSums,
    first_trace_id: z.uuid(),
    last_trace_id: z.uuid(),
  })
  .meta({ id: 'TraceThread', description: 'A conversation, found by the metadata of trace runs' });
export type TraceThread = z.output<typeof TraceThread>;

const ThreadId = z.string().min(1).max(512);

const threadRuns = {
  query: z.object({
    session_id: Id.describe('The project'),
    is_root: z
      .enum(['true', 'false'])
      .transform((value) => value === 'true')
      .optional(),
    limit: z.coerce.number().int().min(1).max(100).default(100),
    cursor: z.string().max(1_024).optional(),
  }),
  ...traceRunPage,
};

const notAFilter = 'Use filter, trace_filter or tree_filter.';

export const traceThreadRoutes = {
  queryTraceThreads: route('post', '/api/v2/threads/query', {
    summary: 'Threads of a project, ordered by their newest trace runs',
    access: { permission: 'read' },
    body: z.object({
      project_id: Id,
      filter: nullish(z.string().max(65_536)).describe('A filter that a trace run of the thread must match'),
      trace_filter: nullish(z.string().max(65_536)).describe(
        'A filter that the root of a trace of the thread must match',
      ),
      tree_filter: nullish(z.string().max(65_536)).describe(
        'A filter that a trace run of a trace of the thread must match',
      ),
      min_start_time: nullish(When),
      max_start_time: nullish(When),
      cursor: nullish(z.string().max(1_024)).describe(
        '`next_cursor` of the page before; the other fields are the same',
      ),
      page_size: nullish(z.int().min(1).max(100)),
    }),
    unsupported: {
      body: { ...noSearchByModel, thread_filter: notAFilter },
    },
    response: z.object({
      items: z.array(TraceThread),
      has_more: z.boolean(),
      next_cursor: z.string().nullable(),
      ...partial,
    }),
  }),
  listRunsOfTraceThread: route('get', '/api/v1/runs/threads', {
    summary: 'Trace runs of a thread, oldest first, for any thread id, such as one with a slash',
    access: { permission: 'read' },
    query: threadRuns.query.extend({ thread_id: ThreadId }),
    ...traceRunPage,
  }),
  listTraceThreadRuns: route('get', '/api/v1/runs/threads/:thread_id', {
    summary: 'Trace runs of a thread, oldest first',
    access: { permission: 'read' },
    params: z.object({ thread_id: ThreadId }),
    ...threadRuns,
  }),
};
