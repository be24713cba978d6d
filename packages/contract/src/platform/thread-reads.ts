// Version 2 of the reads of threads of traces, and the groups of version 1.
import * as z from 'zod';
import { Id, nullish, queryList, Time } from '../json.ts';
import { limitedBy } from '../page.ts';
import { routesOf } from '../route.ts';
import { AggregateStat, ThreadStat, ThreadTraceField } from './select-fields.ts';
import { pageOf, pageQuery, timeWindow } from './run-reads.ts';

const route = routesOf('Threads of traces');

const ThreadTrace = z
  .looseObject({
    trace_id: z.uuid(),
    turn_number: z.int().optional().describe('Position in the whole thread, from 1'),
    latency: z.number().optional().describe('In seconds'),
  })
  .meta({ id: 'ThreadTrace', description: 'The selected fields of a turn: the root of a trace of a thread' });

const sums = {
  latency_p50_seconds: z.number().nullable().optional(),
  latency_p99_seconds: z.number().nullable().optional(),
  prompt_tokens: z.int().optional(),
  completion_tokens: z.int().optional(),
  total_tokens: z.int().optional().describe('Tokens of models, each counted once'),
  prompt_cost: z.number().nullable().optional(),
  completion_cost: z.number().nullable().optional(),
  total_cost: z.number().nullable().optional(),
};

export const ThreadStats = z
  .object({
    turns: z.int().optional(),
    first_start_time: Time.nullable().optional(),
    last_start_time: Time.nullable().optional(),
    last_end_time: Time.nullable().optional(),
    ...sums,
  })
  .meta({ id: 'ThreadStats', description: 'The selected statistics of a thread' });
export type ThreadStats = z.output<typeof ThreadStats>;

export const ThreadAggregates = z
  .object({
    thread_count: z.int().optional(),
    trace_count: z.int().optional(),
    error_rate: z.number().nullable().optional(),
    first_token_p50_seconds: z.number().nullable().optional(),
    first_token_p99_seconds: z.number().nullable().optional(),
    ...sums,
  })
  .meta({ id: 'ThreadAggregates', description: 'The selected statistics of the turns of threads' });
export type ThreadAggregates = z.output<typeof ThreadAggregates>;

const RunGroup = z
  .object({
    group_key: z.string().describe('The id of the thread'),
    filter: z.string().describe('A filter that the trace runs of the thread match'),
    count: z.int(),
    total_tokens: z.int(),
    total_cost: z.number().nullable(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    min_start_time: Time,
    max_start_time: Time,
    latency_p50: z.number().nullable(),
    latency_p99: z.number().nullable(),
    first_inputs: z.string().nullable(),
    last_outputs: z.string().nullable(),
    last_error: z.string().nullable(),
    feedback_stats: z.null(),
  })
  .meta({ id: 'RunGroup', description: 'A thread, as version 1 lists it' });
export type RunGroup = z.output<typeof RunGroup>;

const Filter = z.string().max(65_536);
const params = z.object({ thread_id: z.string().min(1).max(512) });
const access = { permission: 'read' } as const;

export const threadReadRoutes = {
  listThreadTraces: route('get', '/api/v2/threads/:thread_id/traces', {
    summary:
      'Turns of a thread, oldest first: the roots with its id, with the tokens and costs of their traces',
    access,
    params,
    query: z.object({
      project_id: Id,
      filter: Filter.optional().describe('A filter on the root'),
      trace_filter: Filter.optional().describe('The same as `filter`; both must match'),
      tree_filter: Filter.optional().describe('A filter that any trace run of the trace must match'),
      selects: queryList(ThreadTraceField).describe('The fields of each turn; only `trace_id` when absent'),
      ...pageQuery,
    }),
    response: pageOf(ThreadTrace),
    headers: { 'X-Pagination-Limited-By': limitedBy },
  }),
  getThreadStats: route('get', '/api/v2/threads/:thread_id/stats', {
    summary: 'Statistics of a thread',
    access,
    params,
    query: z.object({
      session_id: Id.describe('The project'),
      filter: Filter.optional().describe('Only turns with a matching root'),
      selects: queryList(ThreadStat).describe('The statistics to return; at least one'),
    }),
    response: ThreadStats,
    errors: ['not_supported'],
  }),
  getThreadAggregates: route('post', '/api/v2/threads/stats', {
    summary: 'Statistics of the turns of all threads of a project in a window of time',
    access,
    body: z.object({
      project_id: Id,
      select: z.array(AggregateStat).min(1).max(50),
      ...timeWindow,
      filter: nullish(Filter).describe('The same as `trace_filter`; both must match'),
      trace_filter: nullish(Filter).describe('Only turns with a matching root'),
      tree_filter: nullish(Filter).describe('Only turns with a matching trace run'),
    }),
    unsupported: { body: { thread_filter: 'Use trace_filter or tree_filter.' } },
    response: ThreadAggregates,
    errors: ['not_supported'],
  }),
  groupRuns: route('post', '/api/v1/runs/group', {
    summary: 'Threads of a project by offset, ordered by their newest trace runs',
    access,
    body: z.object({
      session_id: Id.describe('The project'),
      group_by: z.literal('conversation'),
      filter: nullish(Filter).describe('A filter that a trace run of the thread must match'),
      start_time: timeWindow.max_start_time,
      end_time: timeWindow.max_start_time,
      limit: nullish(z.int().min(1).max(100)),
      offset: nullish(z.int().min(0).max(10_000)),
    }),
    response: z.object({ groups: z.array(RunGroup), total: z.int() }),
  }),
};
