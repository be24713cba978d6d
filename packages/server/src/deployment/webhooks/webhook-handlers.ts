import type { webhookRoutes } from '@svc/contract';
import { Reply, type Handlers } from '../../api/handlers.ts';
import { readAccess } from '../threads/read-access.ts';
import type { DeliverySearchService } from './delivery-search-service.ts';
import type { WebhookService } from './webhook-service.ts';

export const webhookHandlers = (
  webhooks: WebhookService,
  searches: DeliverySearchService,
): Handlers<typeof webhookRoutes> => ({
  listRunWebhooks: async ({ params }, { authorizer }) =>
    webhooks.list(params.thread_id, params.run_id, await readAccess(authorizer, params)),
  retryWebhookDelivery: async ({ params }, { authorizer }) => {
    const update = { thread_id: params.thread_id, metadata: undefined, action: undefined };
    const { access } = await authorizer.authorize('threads:update', update);
    return webhooks.retry(params, access);
  },
  searchWebhookDeliveries: async ({ body: { status, ...page } }, { authorizer }) => {
    const search = { ...page, status: typeof status === 'string' ? [status] : status };
    const { rows, next, limitedBy } = await searches.search(search, await readAccess(authorizer, {}));
    return new Reply(rows, { next: next ?? undefined, limitedBy });
  },
});
