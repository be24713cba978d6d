import type { webhookRoutes } from '@svc/contract';
import type { Handlers } from '../handlers.ts';
import type { WebhookService } from './webhook-service.ts';

export const webhookHandlers = (webhooks: WebhookService): Handlers<typeof webhookRoutes> => ({
  listRunWebhooks: async ({ params }, { access }) => {
    const { filter } = await access.ask('threads:read', params);
    return webhooks.list(params.thread_id, params.run_id, filter);
  },
});
