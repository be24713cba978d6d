// Deliveries to webhooks that have failed for good in the last day, and those that are retried after an error.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Client, WebhookDelivery } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { ahead } from '../ui/duration.ts';
import { countText, dayMs, findingsMs, type Finding, type Findings } from './finding.tsx';

const deliveriesMax = 100;

interface Failing {
  deliveries: WebhookDelivery[];
  hasMore: boolean;
}

const read = async (client: Client, status: 'pending' | 'failed', signal: AbortSignal): Promise<Failing> => {
  const { deliveries, next } = await client.runs.searchWebhooks({ status, limit: deliveriesMax }, { signal });
  const isFailing = (delivery: WebhookDelivery): boolean =>
    status === 'failed'
      ? Date.parse(delivery.ended_at ?? delivery.created_at) > Date.now() - dayMs
      : delivery.error !== null;
  const failing = deliveries.filter(isFailing);
  return { deliveries: failing, hasMore: next !== undefined && failing.length === deliveries.length };
};

export const useFailingWebhooks = (): Findings => {
  const client = useClient();
  const query = useQuery({
    queryKey: ['webhooks', 'failing'],
    queryFn: async ({ signal }) => {
      const [failed, retried] = await Promise.all([
        read(client, 'failed', signal),
        read(client, 'pending', signal),
      ]);
      return { failed, retried };
    },
    refetchInterval: findingsMs,
  });
  const found = query.data && [...failedFinding(query.data.failed), ...retriedFinding(query.data.retried)];
  return { found, error: query.error };
};

const countOf = ({ deliveries, hasMore }: Failing): string =>
  countText(deliveries.length, 'webhook delivery', { hasMore, plural: 'webhook deliveries' });

const reasonOf = ({ url, error }: WebhookDelivery): string => `${url}: ${error ?? ''}`;

const failedFinding = ({ deliveries, hasMore }: Failing): Finding[] => {
  const [newest] = deliveries;
  if (!newest) return [];
  const count = countOf({ deliveries, hasMore });
  return [
    {
      key: 'webhooks failed',
      tone: 'red',
      sentence: `${count} failed in the last day`,
      reason: reasonOf(newest),
      links: (
        <Link to="/webhooks" search={{ status: ['failed'], sel: newest.delivery_id }} className="button">
          Open failed deliveries
        </Link>
      ),
    },
  ];
};

const retriedFinding = ({ deliveries, hasMore }: Failing): Finding[] => {
  const [newest] = deliveries;
  if (!newest) return [];
  const count = countOf({ deliveries, hasMore });
  const nextMs = Math.min(
    ...deliveries.map(({ next_attempt_at: at }) => (at === null ? Infinity : Date.parse(at))),
  );
  const next = Number.isFinite(nextMs) ? `, the next attempt is ${ahead(nextMs - Date.now())}` : '';
  return [
    {
      key: 'webhooks retried',
      tone: 'amber',
      sentence: `${count} ${deliveries.length === 1 ? 'is' : 'are'} retried after an error${next}`,
      reason: reasonOf(newest),
      links: (
        <Link to="/webhooks" search={{ status: ['pending'], sel: newest.delivery_id }} className="button">
          Open retried deliveries
        </Link>
      ),
    },
  ];
};
