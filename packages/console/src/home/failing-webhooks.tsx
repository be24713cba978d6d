// Deliveries to webhooks that have failed for good in the last day, and those that are retried after an error.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Client, WebhookDelivery } from '@svc/sdk';
import { useClient } from '../api/client.tsx';
import { ahead } from '../ui/duration.ts';
import { useNow } from '../ui/use-now.ts';
import { deliveriesMax, failingOf, unexaminedText, type Failing } from './failing-deliveries.ts';
import { countText } from '../ui/count-text.ts';
import { findingsMs, type Finding, type Findings } from './finding.tsx';

const read = async (client: Client, status: 'pending' | 'failed', signal: AbortSignal): Promise<Failing> => {
  const page = await client.runs.searchWebhooks({ status, limit: deliveriesMax }, { signal });
  return failingOf(status, page, Date.now());
};

export const useFailingWebhooks = (): Findings => {
  const client = useClient();
  const nowMs = useNow();
  const query = useQuery({
    queryKey: ['webhooks', 'failing'],
    queryFn: async ({ signal }) => {
      const [failed, retried] = await Promise.all([
        read(client, 'failed', signal),
        read(client, 'pending', signal),
      ]);
      return { failed, retried };
    },
    refetchInterval: ({ state: { data } }) =>
      data?.failed.isExpensive || data?.retried.isExpensive ? false : findingsMs,
  });
  const found = query.data && [
    ...failedFinding(query.data.failed),
    ...retriedFinding(query.data.retried, nowMs),
  ];
  const unexamined = query.data && unexaminedText([query.data.failed, query.data.retried]);
  return { found, error: query.error, unexamined };
};

const countOf = ({ deliveries, hasMore }: Failing): string =>
  countText(deliveries.length, 'webhook delivery', { hasMore, plural: 'webhook deliveries' });

const reasonOf = ({ url, error }: WebhookDelivery): string => `${url}: ${error ?? ''}`;

const failedFinding = (failing: Failing): Finding[] => {
  const { deliveries } = failing;
  const [newest] = deliveries;
  if (!newest) return [];
  const count = countOf(failing);
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

const retriedFinding = (failing: Failing, nowMs: number): Finding[] => {
  const { deliveries } = failing;
  const [newest] = deliveries;
  if (!newest) return [];
  const count = countOf(failing);
  const nextMs = Math.min(
    ...deliveries.map(({ next_attempt_at: at }) => (at === null ? Infinity : Date.parse(at))),
  );
  const next = Number.isFinite(nextMs) ? `, the next attempt is ${ahead(nextMs - nowMs)}` : '';
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
