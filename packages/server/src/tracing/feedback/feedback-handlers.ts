import type { feedbackRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from '../../auth/keys/grant-of.ts';
import type { FeedbackService } from './feedback-service.ts';

export const feedbackHandlers = (feedback: FeedbackService): Handlers<typeof feedbackRoutes> => ({
  createFeedback: ({ body }, call) => feedback.create(grantOf(call.caller).tenant_id, body),

  listFeedback: ({ query }, call) => feedback.list(grantOf(call.caller).tenant_id, query),

  getFeedback: ({ params }, call) => feedback.get(grantOf(call.caller).tenant_id, params.feedback_id),

  changeFeedback: ({ params, body }, call) =>
    feedback.change(grantOf(call.caller).tenant_id, params.feedback_id, body),

  deleteFeedback: ({ params }, call) => feedback.delete(grantOf(call.caller).tenant_id, params.feedback_id),
});
