import * as z from 'zod';
import { Empty, Id, Json, JsonObject, nullish, queryInteger, Time, When } from '../json.ts';
import { closed } from '../closed.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Feedback');

export const FeedbackToken = z.object({ id: z.uuid(), url: z.string(), expires_at: Time }).meta({
  id: 'FeedbackToken',
  description: 'A link that accepts feedback without a key, from anyone',
});
export type FeedbackToken = z.output<typeof FeedbackToken>;

const part = (max: number) => nullish(z.int().min(0).max(max));

/** Closed by itself, because `route()` closes objects and lists only. */
const NewToken = closed(
  z.object({
    id: nullish(Id).describe('Id of the link, which is a secret; a new one when absent'),
    run_id: Id,
    feedback_key: z.string().min(1).max(256),
    expires_at: nullish(When),
    expires_in: nullish(
      z.strictObject({ days: part(365), hours: part(8_760), minutes: part(525_600) }),
    ).describe('From a minute to a year; 3 hours by default'),
  }),
  { feedback_config: 'Feedback has no configuration.' },
);

const Comment = z.string().max(65_536);
const params = z.object({ token: Id });
const usePath = '/api/v1/feedback/tokens/:token';
const use = {
  access: 'public',
  params,
  response: Empty,
  status: 204,
  errors: ['not_found'],
} as const;

export const feedbackTokenRoutes = {
  createFeedbackToken: route('post', '/api/v1/feedback/tokens', {
    summary: 'Create a link that accepts feedback on a trace run without a key',
    access: { permission: 'ingest' },
    body: z.union([NewToken, z.array(NewToken).min(1).max(100)]).describe('Or a list of links'),
    response: z.union([FeedbackToken, z.array(FeedbackToken)]).describe('A list for a list'),
    errors: ['conflict'],
  }),
  listFeedbackTokens: route('get', '/api/v1/feedback/tokens', {
    summary: 'Links for feedback on a trace run that have not expired, newest first',
    access: { permission: 'write' },
    query: z.object({
      run_id: Id,
      limit: queryInteger(1, 100).default(100),
      offset: queryInteger(0, 100_000).default(0),
    }),
    response: z.array(FeedbackToken),
  }),
  useFeedbackToken: route('post', usePath, {
    ...use,
    summary: 'Give feedback by a link; feedback that the link gave before is replaced',
    body: z.object({
      score: nullish(z.union([z.number(), z.boolean()])).describe('true is 1, false is 0'),
      value: Json.optional(),
      correction: Json.optional(),
      comment: nullish(Comment),
      metadata: nullish(JsonObject),
    }),
  }),
  visitFeedbackToken: route('get', usePath, {
    ...use,
    changes: 'always',
    summary: 'Give feedback by visiting a link, as from an e-mail',
    query: z.object({
      score: z
        .string()
        .max(64)
        .transform(
          (text) => ({ true: 1, false: 0 })[text.toLowerCase()] ?? (text === '' ? Number.NaN : Number(text)),
        )
        .pipe(z.number())
        .optional()
        .describe('A number, true or false'),
      value: Comment.optional().describe('A text'),
      correction: Comment.optional().describe('A text'),
      comment: Comment.optional().describe('A text'),
    }),
  }),
};
