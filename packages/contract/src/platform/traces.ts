import * as z from 'zod';
import { Id, idList, Json, JsonObject, nullish, Time, When } from '../json.ts';
import { limitedBy, SortOrder } from '../page.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Traces');
const json = 'application/json';

export const TraceRun = z
  .looseObject({
    id: z.uuid(),
    trace_id: z.uuid(),
    parent_run_id: z.uuid().nullable(),
    parent_run_ids: z.array(z.uuid()),
    session_id: z.uuid().nullable().describe('The project'),
    thread_id: z.string().nullable().describe('From its metadata: session_id, conversation_id or thread_id'),
    name: z.string(),
    run_type: z.string(),
    status: z.enum(['pending', 'success', 'error']),
    dotted_order: z.string(),
    start_time: Time.describe('While only a PATCH has arrived: its end time, or the time of its arrival'),
    end_time: Time.nullable(),
    first_token_time: Time.nullable(),
    inputs: Json,
    outputs: Json,
    error: z.string().nullable(),
    extra: JsonObject.nullable(),
    events: z.array(Json).nullable(),
    serialized: Json,
    tags: z.array(z.string()).nullable(),
    reference_example_id: z.uuid().nullable(),
    prompt_tokens: z.int().nullable(),
    completion_tokens: z.int().nullable(),
    total_tokens: z.int().nullable().describe('For a root, the sum over its trace; likewise for costs'),
    prompt_cost: z.string().nullable(),
    completion_cost: z.string().nullable(),
    total_cost: z.string().nullable(),
    feedback_stats: z
      .record(z.string(), z.object({ n: z.int(), avg: z.number().nullable() }))
      .optional()
      .describe('By key: the number of scores and their mean'),
    s3_urls: z
      .record(z.string(), z.object({ presigned_url: z.url(), mime_type: z.string() }))
      .nullable()
      .optional()
      .describe(
        'Attachments by `attachment.` and their name; for an hour, `presigned_url` returns the content without a key',
      ),
    app_path: z.string(),
  })
  .meta({ id: 'TraceRun', description: 'One step of a trace' });
export type TraceRun = z.output<typeof TraceRun>;

const Filter = z.string().max(65_536);
const ids = (max: number) => nullish(idList(max));

/** Conditions on trace runs. */
export const RunsAsked = z.object({
  trace: nullish(Id),
  parent_run: nullish(Id),
  run_type: nullish(z.string().max(64)),
  session: ids(100).describe('Projects'),
  session_id: ids(100).describe('Another name of `session`; a request has one of them'),
  reference_example: ids(1_000),
  is_root: nullish(z.boolean()),
  execution_order: nullish(z.literal(1, 'must be 1: no other order of a trace run is known')).describe(
    '1: only roots of traces',
  ),
  error: nullish(z.boolean()),
  start_time: nullish(When).describe('Only trace runs that started at this time or later'),
  end_time: nullish(When).describe('Only trace runs that started at this time or earlier'),
  filter: nullish(Filter).describe('A filter on the trace run: and(eq(run_type, "llm"), gt(latency, "5s"))'),
  trace_filter: nullish(Filter).describe('A filter on the root of its trace'),
  tree_filter: nullish(Filter).describe('A filter that any trace run of its trace must match'),
});

export const IngestAnswer = z
  .object({
    message: z.string(),
    errors: z
      .array(z.object({ id: z.string().nullable(), message: z.string() }))
      .optional()
      .describe('What was rejected; everything else was stored'),
  })
  .meta({ id: 'IngestAnswer' });
export type IngestAnswer = z.output<typeof IngestAnswer>;

export const OtlpAnswer = z
  .object({
    partialSuccess: z
      .object({ rejectedSpans: z.string().describe('A number'), errorMessage: z.string() })
      .optional()
      .describe('What was rejected; everything else was stored'),
  })
  .meta({ id: 'OtlpAnswer' });
export type OtlpAnswer = z.output<typeof OtlpAnswer>;

/** Sums of a set of trace runs. */
export const usageSums = {
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int().describe('Tokens of models, each counted once'),
  prompt_cost: z.string().nullable(),
  completion_cost: z.string().nullable(),
  total_cost: z.string().nullable(),
};

export const RunStats = z
  .object({
    run_count: z.int(),
    error_count: z.int(),
    error_rate: z.number().nullable(),
    latency_p50: z.number().nullable().describe('In seconds'),
    latency_p99: z.number().nullable(),
    first_token_p50: z.number().nullable(),
    first_token_p99: z.number().nullable(),
    ...usageSums,
    last_run_start_time: Time.nullable(),
  })
  .meta({ id: 'RunStats' });
export type RunStats = z.output<typeof RunStats>;

/** Points of one response. */
export const statsPointsMax = 500;

export const RunStatsPoint = RunStats.omit({ error_rate: true, last_run_start_time: true })
  .extend({ start_time: Time.describe('Where the interval begins') })
  .meta({ id: 'RunStatsPoint', description: 'Statistics of the trace runs that started in one interval' });
export type RunStatsPoint = z.output<typeof RunStatsPoint>;

export const RunStatsSeries = z
  .object({
    start_time: Time,
    end_time: Time,
    interval_seconds: z.int(),
    points: z
      .array(RunStatsPoint)
      .describe(
        'One for each interval, the earliest first. Only trace runs between `start_time` and `end_time` count, also in the first and the last interval',
      ),
  })
  .meta({ id: 'RunStatsSeries' });
export type RunStatsSeries = z.output<typeof RunStatsSeries>;

export const RunTree = z
  .object({
    trace_id: z.uuid(),
    run_count: z.int(),
    is_whole: z.boolean().describe('False when the trace has more trace runs than the response'),
    runs: z
      .array(z.looseObject({ id: z.uuid(), child_runs: z.array(z.unknown()) }))
      .describe(
        'The root, and trace runs whose parents are missing; each with child_runs, and without payloads',
      ),
  })
  .meta({ id: 'RunTree', description: 'A trace as a tree of trace runs' });
export type RunTree = z.output<typeof RunTree>;

/** Fields of a page: whether the search used up its time budget before the page was full. */
export const partial = {
  is_partial: z
    .boolean()
    .describe(
      'The search used up its time budget: the page has what was found so far, and the cursor continues',
    ),
  notice: z.string().nullable().describe('Explains a partial page, and how to narrow the query'),
};

/** The response of routes that return a page of trace runs. */
export const traceRunPage = {
  response: z.object({
    runs: z.array(TraceRun),
    cursors: z.object({ next: z.string().nullable(), prev: z.null() }),
    ...partial,
  }),
  headers: { 'X-Pagination-Limited-By': limitedBy },
};

const ignoredInSearches = {
  data_source_type: 'All runs have the same source.',
};

const StatsAsked = RunsAsked.extend({ id: ids(1_000) });

const unsupportedInSearches = { query: 'A text is searched by the filter search("…").' };

const ingest = {
  access: { permission: 'ingest' },
  response: IngestAnswer,
  status: 202,
  errors: ['invalid', 'too_large', 'rate_limited'],
} as const;

export const traceRoutes = {
  getIngestInfo: route('get', '/api/v1/info', {
    summary: 'Limits and settings for tracers',
    access: 'public',
    response: JsonObject,
  }),
  ingestMultipart: route('post', '/api/v1/runs/multipart', {
    ...ingest,
    summary:
      'Store trace runs, one part per field: post.<id>, patch.<id>, post.<id>.inputs, attachment.<id>.<name>',
    upload: ['multipart/form-data'],
  }),
  ingestBatch: route('post', '/api/v1/runs/batch', {
    ...ingest,
    summary: 'Store trace runs: {"post": [run], "patch": [run]}',
    upload: [json],
  }),
  ingestRun: route('post', '/api/v1/runs', {
    ...ingest,
    summary: 'Store one trace run',
    upload: [json],
  }),
  ingestRunPatch: route('patch', '/api/v1/runs/:id', {
    ...ingest,
    summary: 'Add fields to a trace run, which may arrive before or after this request',
    params: z.object({ id: Id }),
    upload: [json],
  }),
  ingestOtlp: route('post', '/api/v1/otel/v1/traces', {
    ...ingest,
    summary: 'Store OpenTelemetry spans (OTLP/HTTP); the response has the encoding of the request',
    upload: ['application/x-protobuf', json],
    requestHeaders: { 'langsmith-project': 'Name of the project; the name of the service by default' },
    response: OtlpAnswer,
    status: 200,
    errors: ['bad_request', 'too_large', 'rate_limited'],
  }),
  getTraceRun: route('get', '/api/v1/runs/:id', {
    summary: 'Get a run',
    access: { permission: 'read' },
    params: z.object({ id: Id }),
    response: TraceRun,
    errors: ['not_found'],
  }),
  listTraceAttachments: route('get', '/api/v1/runs/:id/attachments', {
    summary: 'The attachments of a run, by name',
    access: { permission: 'read' },
    params: z.object({ id: Id }),
    query: z.object({
      name: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe(
          'Only this attachment, with its content. For names that cannot be a part of a path, such as those with a slash',
        ),
    }),
    response: z.array(
      z.object({
        name: z.string(),
        content_type: z.string(),
        bytes: z.int(),
        content: z.base64().optional().describe('Only with `name`'),
      }),
    ),
    errors: ['not_found'],
  }),
  getTraceAttachment: route('get', '/api/v1/runs/:id/attachments/:name', {
    summary: 'An attachment of a run, in base64',
    access: { permission: 'read' },
    params: z.object({ id: Id, name: z.string().min(1).max(256) }),
    response: z.object({ name: z.string(), content_type: z.string(), content: z.base64() }),
    errors: ['not_found'],
  }),
  openAttachmentLink: route('get', '/api/v1/attachments/:token', {
    summary: 'The content of an attachment, by a link in a trace run',
    description: 'Public: the link is the permission. It expires an hour after the trace run was read.',
    access: 'public',
    kind: 'file',
    params: z.object({ token: z.string().min(1).max(4_096).describe('From `s3_urls` or `attachments`') }),
    response: z.string(),
    errors: ['not_found'],
  }),
  getTrace: route('get', '/api/v1/traces/:trace_id', {
    summary: 'A trace as a tree',
    access: { permission: 'read' },
    params: z.object({ trace_id: Id }),
    response: RunTree,
    errors: ['not_found'],
  }),
  getRunStats: route('post', '/api/v1/runs/stats', {
    summary: 'Counts, times, tokens and costs of trace runs',
    access: { permission: 'read' },
    body: StatsAsked,
    ignored: { body: ignoredInSearches },
    unsupported: { body: unsupportedInSearches },
    response: RunStats,
  }),
  getRunStatsSeries: route('post', '/api/v1/runs/stats/series', {
    summary: 'Counts, times, tokens and costs of trace runs for each interval of a time range',
    access: { permission: 'read' },
    body: StatsAsked.extend({
      start_time: nullish(When).describe('An hour before `end_time` by default'),
      end_time: nullish(When).describe('Not before `start_time`; the time of the request by default'),
      interval_seconds: nullish(z.int().min(1).max(31_536_000)).describe(
        `About 60 intervals by default, ${statsPointsMax} at most. They begin at multiples of their length since 1970`,
      ),
    }),
    ignored: { body: ignoredInSearches },
    unsupported: { body: unsupportedInSearches },
    response: RunStatsSeries,
  }),
  queryTraceRuns: route('post', '/api/v1/runs/query', {
    summary: 'Search trace runs by id, trace, project, time or filter, ordered by start',
    access: { permission: 'read' },
    body: RunsAsked.extend({
      id: ids(1_000).describe('When given, other conditions are ignored'),
      select: nullish(z.array(z.string().max(64)).max(100)).describe(
        'The fields that are returned, besides those that every run has: id, name, run_type, start_time, trace_id, dotted_order, status, session_id, app_path',
      ),
      order: SortOrder,
      limit: nullish(z.int().min(1).max(100)),
      cursor: nullish(z.string().max(1_024)).describe(
        '`cursors.next` of the page before; the other fields are the same',
      ),
    }),
    ignored: {
      body: {
        ...ignoredInSearches,
        skip_pagination: 'Use limit.',
        skip_prev_cursor: 'The cursor of the previous page is always null.',
      },
    },
    unsupported: { body: { ...unsupportedInSearches, search_filter: 'Use filter.' } },
    ...traceRunPage,
  }),
};
