// Links that let a browser give feedback on a trace run without a key.
import { randomUUID } from 'node:crypto';
import type { FeedbackToken, feedbackTokenRoutes, RouteInput } from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { FeedbackTokenRow, FeedbackTokenStorage } from '../../storage/tracing/feedback-tokens.ts';
import { hashUuid } from '../ingest/hash-uuid.ts';
import { timeMs } from '../../api/time.ts';
import type { FeedbackService, GivenFeedback } from './feedback-service.ts';
import type { Handlers } from '../../api/handlers.ts';
import { tenantOf } from '../../auth/principal/caller.ts';

type NewFeedbackToken = Exclude<
  RouteInput<(typeof feedbackTokenRoutes)['createFeedbackToken']>['body'],
  unknown[]
>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const defaultMs = 3 * hourMs;
const longestMs = 365 * dayMs;

export class FeedbackTokenService {
  readonly #tokens: FeedbackTokenStorage;
  readonly #feedback: FeedbackService;

  constructor(tokens: FeedbackTokenStorage, feedback: FeedbackService) {
    this.#tokens = tokens;
    this.#feedback = feedback;
  }

  async create(tenant_id: string, given: NewFeedbackToken, address: string): Promise<FeedbackToken> {
    const expires_at = new Date(expiryOf(given)).toISOString();
    const { id = randomUUID(), run_id, feedback_key: key } = given;
    const [row] = await this.#tokens.create({ tenant_id, run_id, expires_at }, [{ id, key }]);
    if (row === undefined)
      throw new Problem('conflict', 'A link with this id already exists for another run or another key');
    return toToken(row, address);
  }

  /** A link for each of these keys, for 3 hours. */
  async linksFor(
    { tenant_id, run_id }: { tenant_id: string; run_id: string },
    keys: readonly string[],
    address: string,
  ): Promise<Record<string, string>> {
    const expires_at = new Date(Date.now() + defaultMs).toISOString();
    const tokens = [...new Set(keys)].map((key) => ({ id: randomUUID(), key }));
    await this.#tokens.create({ tenant_id, run_id, expires_at }, tokens);
    return Object.fromEntries(tokens.map(({ id, key }) => [key, urlOf(id, address)]));
  }

  async list(
    tenant_id: string,
    { run_id, ...page }: { run_id: string; limit: number; offset: number },
    address: string,
  ): Promise<FeedbackToken[]> {
    return (await this.#tokens.list(tenant_id, run_id, page)).map((row) => toToken(row, address));
  }

  /** A link stores at most one feedback, so it cannot be used to fill the database. */
  async use(
    token: string,
    given: Pick<GivenFeedback, 'score' | 'value' | 'correction' | 'comment'> & {
      metadata?: Record<string, unknown> | undefined;
    },
  ): Promise<undefined> {
    const target = await this.#tokens.find(token);
    if (target === undefined) throw notFound('Feedback token', token);
    const { tenant_id, run_id, key } = target;
    const { metadata = {}, ...feedback } = given;
    const feedback_source = { type: 'presigned', metadata };
    await this.#feedback.create(tenant_id, {
      ...feedback,
      // A hash, because every reader of feedback sees this id and must not learn the token.
      id: hashUuid(token),
      run_id,
      key,
      feedback_source,
    });
    return undefined;
  }
}

const expiryOf = ({ expires_at, expires_in }: NewFeedbackToken): number => {
  const now = Date.now();
  if (expires_at !== undefined) {
    const ms = timeMs(expires_at);
    if (ms <= now || ms > now + longestMs)
      throw invalid(['body', 'expires_at'], 'expires_at must be in the future, at most a year from now');
    return ms;
  }
  const { days = 0, hours = 0, minutes = 0 } = expires_in ?? {};
  const ms = expires_in === undefined ? defaultMs : days * dayMs + hours * hourMs + minutes * minuteMs;
  if (ms <= 0 || ms > longestMs)
    throw invalid(['body', 'expires_in'], 'expires_in must be between a minute and a year');
  return now + ms;
};

const toToken = ({ id, expires_at }: FeedbackTokenRow, address: string): FeedbackToken => ({
  id,
  url: urlOf(id, address),
  expires_at,
});

const urlOf = (id: string, address: string): string => `${address}/api/v1/feedback/tokens/${id}`;

export const feedbackTokenHandlers = (
  tokens: FeedbackTokenService,
): Handlers<typeof feedbackTokenRoutes> => ({
  createFeedbackToken: async ({ body }, call) => {
    const tenant_id = tenantOf(call);
    if (!Array.isArray(body)) return tokens.create(tenant_id, body, call.address);
    const made: FeedbackToken[] = [];
    for (const each of body) made.push(await tokens.create(tenant_id, each, call.address));
    return made;
  },

  listFeedbackTokens: ({ query }, call) => tokens.list(tenantOf(call), query, call.address),

  useFeedbackToken: ({ params, body }) => tokens.use(params.token, body),

  visitFeedbackToken: ({ params, query }) => tokens.use(params.token, query),
});
