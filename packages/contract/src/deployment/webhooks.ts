import * as z from 'zod';
import { Id, nullish, Time } from '../json.ts';
import { limit, limitedBy } from '../page.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Runs');

const DeliveryStatus = z
  .enum(['pending', 'delivered', 'failed'])
  .meta({ id: 'WebhookDeliveryStatus', description: '`pending`: attempts follow' });

export const WebhookDelivery = z
  .object({
    delivery_id: Id,
    run_id: Id,
    thread_id: Id,
    url: z.string().describe('Without the query of the URL'),
    status: DeliveryStatus,
    error: z.string().nullable().describe('The error of the last attempt'),
    attempt: z
      .int()
      .describe('Number of attempts since the last retry by hand, or since the delivery was created'),
    attempts: z
      .array(
        z.object({
          at: Time,
          status: z.int().optional().describe('Status of the response; absent when there was none'),
          error: z.string().optional(),
          ms: z.int(),
        }),
      )
      .describe('Attempts whose outcome is known, oldest first'),
    next_attempt_at: Time.nullable(),
    created_at: Time,
    ended_at: Time.nullable(),
  })
  .meta({ id: 'WebhookDelivery', description: "The delivery of a run's end to its webhook" });
export type WebhookDelivery = z.output<typeof WebhookDelivery>;

export const webhookRoutes = {
  listRunWebhooks: route('get', '/threads/:thread_id/runs/:run_id/webhooks', {
    summary: 'Deliveries to the webhook of a run',
    access: { resource: 'threads', action: 'read' },
    params: z.object({ thread_id: Id, run_id: Id }),
    response: z.array(WebhookDelivery),
    errors: ['not_found'],
  }),
  retryWebhookDelivery: route('post', '/threads/:thread_id/runs/:run_id/webhooks/:delivery_id/retry', {
    summary:
      'Send a delivery that failed, or that waits for its next attempt, now. After a failure the count of attempts restarts at 0',
    access: { resource: 'threads', action: 'update' },
    params: z.object({ thread_id: Id, run_id: Id, delivery_id: Id }),
    response: WebhookDelivery,
    errors: ['not_found', 'conflict'],
  }),
  searchWebhookDeliveries: route('post', '/runs/webhooks/search', {
    summary: 'Search deliveries to webhooks across runs, newest first',
    access: { resource: 'threads', action: 'read' },
    bodyOptional: true,
    body: z.object({
      status: nullish(
        z.union([DeliveryStatus, z.array(DeliveryStatus).min(1).max(DeliveryStatus.options.length)]),
      ),
      limit: limit(10),
      cursor: nullish(z.string().min(1).max(1_024)).describe('`X-Pagination-Next` of the page before'),
    }),
    response: z.array(WebhookDelivery),
    headers: {
      'X-Pagination-Next': 'The cursor of the next page; absent on the last one',
      'X-Pagination-Limited-By': `${limitedBy}. rows: it ended early after many deliveries that the caller may not read; the next page may have more`,
    },
  }),
};
