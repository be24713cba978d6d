import type { FeedbackToken, feedbackTokenRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import type { FeedbackTokenService } from './feedback-token-service.ts';

export const feedbackTokenHandlers = (
  tokens: FeedbackTokenService,
): Handlers<typeof feedbackTokenRoutes> => ({
  createFeedbackToken: async ({ body }, call) => {
    const { tenant_id } = grantOf(call.caller);
    if (!Array.isArray(body)) return tokens.create(tenant_id, body, call.address);
    const made: FeedbackToken[] = [];
    for (const each of body) made.push(await tokens.create(tenant_id, each, call.address));
    return made;
  },

  listFeedbackTokens: ({ query }, call) => tokens.list(grantOf(call.caller).tenant_id, query, call.address),

  useFeedbackToken: ({ params, body }) => tokens.use(params.token, body),

  visitFeedbackToken: ({ params, query }) => tokens.use(params.token, query),
});
