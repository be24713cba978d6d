import * as z from 'zod';
import { Empty, Id, Json, JsonObject, nullish, queryInteger, Time, When } from '../json.ts';
import { route } from '../route.ts';

const tag = 'Feedback';

export const FeedbackToken = z.object({ id: z.uuid(), url: z.string(), expires_at: Time }).meta({
  id: 'FeedbackToken',
  description: 'A link that accepts feedback without a key, from anyone',
});
export type FeedbackToken = z.output<typeof FeedbackToken>;

const part = (max: number) => nullish(z.int().min(0).max(max));

export const feedbackTokenRoutes = {
  createFeedbackToken: route({
    method: 'post',
    path: '/api/v1/feedback/tokens',
    summary: 'Create a link that accepts feedback on a trace run without a key',
    tag,
    access: { permission: 'ingest' },
    body: z.object({
      run_id: Id,
      feedback_key: z.string().min(1).max(256),
      expires_at: nullish(When),
      expires_in: nullish(
        z.strictObject({ days: part(365), hours: part(8_760), minutes: part(525_600) }),
      ).describe('3 hours by default; a year at most'),
    }),
    ignored: { body: { feedback_config: 'Feedback has no configuration.' } },
    response: FeedbackToken,
  }),
  listFeedbackTokens: route({
    method: 'get',
    path: '/api/v1/feedback/tokens',
    summary: 'Links for feedback on a trace run that have not expired, newest first',
    tag,
    access: { permission: 'write' },
    query: z.object({
      run_id: Id,
      limit: queryInteger(1, 100).default(100),
      offset: queryInteger(0, 100_000).default(0),
    }),
    response: z.array(FeedbackToken),
  }),
  useFeedbackToken: route({
    method: 'post',
    path: '/api/v1/feedback/tokens/:token',
    summary: 'Give feedback by a link; feedback that the link gave before is replaced',
    tag,
    access: 'public',
    params: z.object({ token: Id }),
    body: z.object({
      score: nullish(z.union([z.number(), z.boolean()])).describe('true is 1, false is 0'),
      value: Json.optional(),
      correction: Json.optional(),
      comment: nullish(z.string().max(65_536)),
      metadata: nullish(JsonObject),
    }),
    response: Empty,
    status: 204,
    errors: ['not_found'],
  }),
};
