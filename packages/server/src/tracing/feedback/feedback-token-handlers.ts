import type { feedbackTokenRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import type { FeedbackTokenService } from './feedback-token-service.ts';

export const feedbackTokenHandlers = (
  tokens: FeedbackTokenService,
): Handlers<typeof feedbackTokenRoutes> => ({
  createFeedbackToken: ({ body }, call) => tokens.create(grantOf(call.caller).tenant_id, body, call.address),

  listFeedbackTokens: ({ query }, call) => tokens.list(grantOf(call.caller).tenant_id, query, call.address),

  useFeedbackToken: ({ params, body }) => tokens.use(params.token, body),
});
