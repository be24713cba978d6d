import type { webhookRoutes } from '@svc/contract';
import type { Handlers } from '../../api/handlers.ts';
import { readAccess } from '../threads/read-access.ts';
import type { WebhookService } from './webhook-service.ts';

export const webhookHandlers = (webhooks: WebhookService): Handlers<typeof webhookRoutes> => ({
  listRunWebhooks: async ({ params }, { authorizer }) =>
    webhooks.list(params.thread_id, params.run_id, await readAccess(authorizer, params)),
});
