import * as z from 'zod';
import { Empty, Id, Json, JsonObject, nullish, queryInteger, queryList, Time } from '../json.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Feedback');

export const Feedback = z
  .object({
    id: z.uuid(),
    run_id: z.uuid().nullable().describe('null for feedback on a project'),
    trace_id: z.uuid().nullable(),
    session_id: z.uuid().nullable().describe('The project'),
    key: z.string().describe('The name of the criterion'),
    score: z.number().nullable(),
    value: Json,
    correction: Json,
    comment: z.string().nullable(),
    feedback_source: JsonObject.describe(
      'The source of the feedback, such as {"type": "api", "metadata": {}}',
    ),
    created_at: Time,
    modified_at: Time,
  })
  .meta({ id: 'Feedback', description: 'A score or comment of a person or program on a trace run' });
export type Feedback = z.output<typeof Feedback>;

const name = z.string().min(1).max(256);
const Score = z.union([z.number(), z.boolean()]).describe('true is 1, false is 0');
const params = z.object({ feedback_id: Id });
const page = { min: 1, max: 100, last: 100_000 };

const byServer = 'The server sets it.';
const notStored = 'Feedback has no such field.';

export const feedbackRoutes = {
  createFeedback: route('post', '/api/v1/feedback', {
    summary: 'Create feedback on a trace run or a project, or replace the feedback with the given id',
    description: 'One of `run_id`, `trace_id` and `session_id` is required.',
    access: { permission: 'ingest' },
    body: z.object({
      id: nullish(Id),
      run_id: nullish(Id).describe('The root of `trace_id` by default'),
      trace_id: nullish(Id),
      session_id: nullish(Id).describe(
        'The project; without a trace run the feedback is on the project itself',
      ),
      key: name,
      score: nullish(Score),
      value: Json.optional(),
      correction: Json.optional(),
      comment: nullish(z.string().max(65_536)),
      feedback_source: nullish(JsonObject),
    }),
    ignored: {
      body: {
        address: 'The run is found by its id.',
        created_at: byServer,
        modified_at: byServer,
        comparative_experiment_id: notStored,
        error: notStored,
        extend_trace_retention: notStored,
        extra: notStored,
        feedbackConfig: notStored,
        feedback_config: notStored,
        feedback_group_id: notStored,
        start_time: 'The run is found by its id.',
      },
    },
    response: Feedback,
    errors: ['conflict', 'not_found'],
  }),
  listFeedback: route('get', '/api/v1/feedback', {
    summary: 'Feedback, newest first',
    access: { permission: 'read' },
    query: z.object({
      run: queryList(Id).describe('Only feedback on these trace runs'),
      session: queryList(Id).describe('Only feedback on these projects and their trace runs'),
      key: queryList(name),
      source: queryList(name).describe('Only feedback from sources of these types'),
      limit: queryInteger(page.min, page.max).default(page.max),
      offset: queryInteger(0, page.last).default(0),
    }),
    response: z.array(Feedback),
  }),
  getFeedback: route('get', '/api/v1/feedback/:feedback_id', {
    summary: 'Get a feedback',
    access: { permission: 'read' },
    params,
    response: Feedback,
    errors: ['not_found'],
  }),
  changeFeedback: route('patch', '/api/v1/feedback/:feedback_id', {
    summary: 'Replace the given fields of a feedback; null removes a field',
    access: { permission: 'write' },
    params,
    body: z.object({
      score: Score.nullable().optional(),
      value: Json.optional(),
      correction: Json.optional(),
      comment: z.string().max(65_536).nullable().optional(),
    }),
    response: Feedback,
    errors: ['not_found'],
  }),
  deleteFeedback: route('delete', '/api/v1/feedback/:feedback_id', {
    audited: 'feedback.delete',
    summary: 'Delete a feedback',
    access: { permission: 'write' },
    params,
    response: Empty,
    status: 204,
    errors: ['not_found'],
  }),
};
