// A webhook delivery as clients see it.
import type { WebhookDelivery } from '@svc/contract';
import type { DeliveryRow } from '../../storage/deployment/webhooks/delivery-rows.ts';
import { ownWebhookPath } from './own-webhook.ts';

export const deliveryOf = ({ url, attempt, log, not_before, ...row }: DeliveryRow): WebhookDelivery => ({
  delivery_id: row.delivery_id,
  run_id: row.run_id,
  thread_id: row.thread_id,
  url: withoutQuery(url),
  status: row.status,
  error: row.error,
  attempt,
  attempts: log,
  next_attempt_at: row.status === 'pending' ? not_before : null,
  created_at: row.created_at,
  ended_at: row.ended_at,
});

/** Removes the query, which may contain secrets. */
const withoutQuery = (text: string): string => {
  const path = ownWebhookPath(text);
  if (path !== undefined) return path.split('?', 1)[0] ?? path;
  const { origin, pathname } = new URL(text);
  return origin + pathname;
};
