// Version 2 of the reads of traces: stock tracers name the fields that they want (`selects`), and follow `next_cursor`.
import * as z from 'zod';
import { Id, idList, Json, JsonObject, nullish, queryInteger, queryList, Time, When } from '../json.ts';
import { limitedBy } from '../page.ts';
import { routesOf } from '../route.ts';
import { absentRunFields, runFields } from './select-fields.ts';
import { partial } from './traces.ts';

const route = routesOf('Traces');

const RunField = z.enum([...runFields, ...absentRunFields]);
export const Selects = nullish(z.array(RunField).max(100)).describe(
  'The fields of each trace run; only its id when absent',
);
const QuerySelects = queryList(RunField).describe('The fields of each trace run; only its id when absent');

const details = z.object({ raw: z.record(z.string(), z.number()) });
const optional = <T extends z.ZodType>(schema: T) => schema.optional();

/** Every field but the id is absent unless it is selected and known. */
export const SelectedRun = z
  .object({
    id: z.uuid(),
    name: optional(z.string()),
    run_type: optional(z.string()).describe('In upper case'),
    status: optional(z.enum(['PENDING', 'SUCCESS', 'ERROR'])),
    start_time: optional(Time),
    end_time: optional(Time.nullable()).describe('null while the trace run is pending'),
    latency_seconds: optional(z.number()),
    first_token_time: optional(Time),
    error: optional(z.string()),
    error_preview: optional(z.string()),
    extra: optional(JsonObject),
    metadata: optional(JsonObject),
    events: optional(z.array(Json)),
    inputs: optional(Json),
    inputs_preview: optional(z.string()),
    outputs: optional(Json),
    outputs_preview: optional(z.string()),
    manifest: optional(Json).describe('The serialized component'),
    parent_run_ids: optional(z.array(z.uuid())).describe('From the root to the parent'),
    project_id: optional(z.uuid()),
    trace_id: optional(z.uuid()),
    thread_id: optional(z.string()),
    dotted_order: optional(z.string()),
    is_root: optional(z.boolean()),
    reference_example_id: optional(z.uuid()),
    total_tokens: optional(z.int()),
    prompt_tokens: optional(z.int()),
    completion_tokens: optional(z.int()),
    total_cost: optional(z.number()),
    prompt_cost: optional(z.number()),
    completion_cost: optional(z.number()),
    prompt_token_details: optional(details),
    completion_token_details: optional(details),
    prompt_cost_details: optional(details),
    completion_cost_details: optional(details),
    tags: optional(z.array(z.string())),
    app_path: optional(z.string()),
    attachments: optional(z.record(z.string(), z.string())).describe(
      'By name, a link that returns the content without a key for an hour',
    ),
    feedback_stats: optional(z.record(z.string(), z.object({ n: z.int(), avg: z.number().nullable() }))),
  })
  .meta({ id: 'SelectedRun', description: 'The selected fields of a trace run' });
export type SelectedRun = z.output<typeof SelectedRun>;

const SelectedTrace = z
  .object({
    root_run: SelectedRun,
    trace_aggregates: z
      .object({
        total_tokens: optional(z.int()),
        total_cost: optional(z.number()),
        first_token_time: optional(Time),
      })
      .optional()
      .describe('Of the whole trace; absent unless one of these fields is selected'),
  })
  .meta({ id: 'SelectedTrace', description: 'The root of a trace, with totals of the trace' });

const Filter = nullish(z.string().max(65_536));
const Cursor = z.string().max(1_024);

export const pageBody = {
  cursor: nullish(Cursor).describe('`next_cursor` of the page before; the other fields are the same'),
  page_size: nullish(z.int().min(1).max(100)).describe('20 by default'),
};
export const pageQuery = {
  cursor: Cursor.optional(),
  page_size: queryInteger(1, 100).optional().describe('20 by default'),
};
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    ...partial,
  });

/** The window of starts that stock clients expect. */
export const timeWindow = {
  min_start_time: nullish(When).describe('A day before the request by default'),
  max_start_time: nullish(When),
};

const noDatasets = 'There are no datasets.';
export const noSearchByModel = {
  ai_search: 'No model evaluates traces; use filters.',
  min_feedback_modified_at: 'Feedback is not filtered by its time.',
  max_feedback_modified_at: 'Feedback is not filtered by its time.',
};

const asEvents = {
  accept:
    'With `text/event-stream` the page is sent as one server-sent event: a JSON Patch that adds the page at the root',
};
const headers = { 'X-Pagination-Limited-By': limitedBy };

export const runReadRoutes = {
  querySelectedRuns: route('post', '/api/v2/runs/query', {
    summary: 'Search trace runs, newest first; returns the selected fields',
    access: { permission: 'read' },
    body: z.object({
      project_ids: nullish(idList(100)).describe('Required, unless `ids` or `trace_id` is given'),
      ids: nullish(idList(1_000)).describe(
        'Only these trace runs. With `ids` or `trace_id`, `min_start_time` has no default',
      ),
      trace_id: nullish(Id),
      run_type: nullish(z.string().max(64)).describe('In upper case'),
      is_root: nullish(z.boolean()),
      has_error: nullish(z.boolean()),
      reference_examples: nullish(idList(1_000)),
      ...timeWindow,
      filter: Filter,
      trace_filter: Filter,
      tree_filter: Filter,
      include_subtree_usage: nullish(z.boolean()).describe(
        'Whether roots report the tokens and costs of their whole trace. Other trace runs report their own',
      ),
      selects: Selects,
      ...pageBody,
    }),
    unsupported: { body: { ...noSearchByModel, reference_dataset_id: noDatasets } },
    requestHeaders: asEvents,
    response: pageOf(SelectedRun),
    headers,
  }),
  getSelectedRun: route('get', '/api/v2/runs/:id', {
    summary: 'The selected fields of a trace run of a project',
    access: { permission: 'read' },
    params: z.object({ id: Id }),
    query: z.object({ project_id: Id, selects: QuerySelects }),
    ignored: { query: { start_time: 'The run is found by its id.' } },
    response: SelectedRun,
    errors: ['not_found'],
  }),
  queryTraces: route('post', '/api/v2/traces/query', {
    summary: 'Traces of a project, newest first: the selected fields of their roots, and totals',
    access: { permission: 'read' },
    body: z.object({
      project_id: Id,
      trace_ids: nullish(idList(1_000)).describe(
        'Only these traces. With it, `min_start_time` has no default',
      ),
      ...timeWindow,
      trace_filter: Filter.describe('A filter on the root'),
      tree_filter: Filter.describe('A filter that any trace run of the trace must match'),
      selects: Selects,
      ...pageBody,
    }),
    unsupported: { body: noSearchByModel },
    requestHeaders: asEvents,
    response: pageOf(SelectedTrace),
    headers,
  }),
  listTraceRuns: route('get', '/api/v2/traces/:trace_id/runs', {
    summary: 'The selected fields of the trace runs of a trace, oldest first',
    description:
      'One response has at most 10,000 trace runs, and fewer when they are large. The rest follows with `next_cursor`, which stock clients do not send.',
    access: { permission: 'read' },
    params: z.object({ trace_id: Id }),
    query: z.object({
      project_id: Id,
      filter: z.string().max(65_536).optional(),
      min_start_time: When.optional(),
      max_start_time: When.optional(),
      selects: QuerySelects,
      cursor: Cursor.optional(),
    }),
    response: pageOf(SelectedRun),
    headers,
  }),
};
