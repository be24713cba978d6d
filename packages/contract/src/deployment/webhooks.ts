import { z } from 'zod';
import { Id, Time } from '../json.ts';
import { route } from '../route.ts';

export const WebhookDelivery = z
  .object({
    delivery_id: Id,
    run_id: Id,
    thread_id: Id,
    url: z.string().describe('Without its query'),
    status: z.enum(['pending', 'delivered', 'failed']),
    error: z.string().nullable().describe('What was wrong with the last attempt'),
    attempt: z.int().describe('How many there have been'),
    attempts: z
      .array(
        z.object({
          at: Time,
          status: z.int().optional().describe('Of the answer; absent when there was none'),
          error: z.string().optional(),
          ms: z.int(),
        }),
      )
      .describe('Those whose outcome is known, oldest first'),
    next_attempt_at: Time.nullable(),
    created_at: Time,
    ended_at: Time.nullable(),
  })
  .meta({ id: 'WebhookDelivery', description: 'How the end of a run is told to its webhook' });
export type WebhookDelivery = z.output<typeof WebhookDelivery>;

export const webhookRoutes = {
  listRunWebhooks: route({
    method: 'get',
    path: '/threads/:thread_id/runs/:run_id/webhooks',
    summary: 'What became of the webhook of a run',
    tag: 'Runs',
    access: { resource: 'threads', action: 'read' },
    params: z.object({ thread_id: Id, run_id: Id }),
    response: z.array(WebhookDelivery),
    errors: ['not_found'],
  }),
};
