// Deliveries to webhooks that have failed for good in the last day, and those that are retried after an error.
import type { Client, WebhookDelivery } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { useServerQuery } from '../api/client.tsx';
import { hasEndedEarly } from '../api/paged-query.ts';
import { ahead } from '../ui/duration.ts';
import { countText } from '../ui/number-text.ts';
import { useNow } from '../ui/use-now.ts';
import { dayMs, type Finding, type Findings, findingsMs } from './finding.tsx';

const read = async (client: Client, status: 'pending' | 'failed', signal: AbortSignal): Promise<Failing> => {
  const page = await client.runs.searchWebhooks({ status, limit: deliveriesMax }, { signal });
  return failingOf(status, page, Date.now());
};

export const useFailingWebhooks = (): Findings => {
  const nowMs = useNow();
  const query = useServerQuery({
    queryKey: ['webhooks', 'failing'],
    read: async (client, call) => {
      const [failed, retried] = await Promise.all([
        read(client, 'failed', call.signal),
        read(client, 'pending', call.signal),
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

const deliveriesMax = 100;
/** Longer than the seven waits between the attempts of a delivery that has failed in the last day. */
const coveredMs = 2 * dayMs;

interface Failing {
  deliveries: WebhookDelivery[];
  /** All deliveries of the page are failing, and it has a next page. */
  hasMore: boolean;
  /** Behind the page there may be others that are failing. */
  isPartial: boolean;
  /** The server has ended the page early. */
  isExpensive: boolean;
}

/** Which deliveries of one page of a search, newest first, need somebody. */
export const failingOf = (
  status: 'pending' | 'failed',
  { deliveries, next }: { deliveries: WebhookDelivery[]; next?: string | undefined },
  nowMs: number,
): Failing => {
  const isFailing = (delivery: WebhookDelivery): boolean =>
    status === 'failed'
      ? Date.parse(delivery.ended_at ?? delivery.created_at) > nowMs - dayMs
      : delivery.error !== null;
  const failing = deliveries.filter(isFailing);
  const oldest = deliveries.at(-1);
  const isCovered =
    status === 'failed' && oldest !== undefined && Date.parse(oldest.created_at) < nowMs - coveredMs;
  return {
    deliveries: failing,
    hasMore: next !== undefined && failing.length > 0 && failing.length === deliveries.length,
    isPartial: next !== undefined && !isCovered,
    isExpensive: hasEndedEarly({ deliveries, next }, deliveriesMax),
  };
};

export const unexaminedText = (read: readonly Failing[]): string | undefined => {
  if (read.some(({ isExpensive }) => isExpensive))
    return 'Not all webhook deliveries were examined, and they are not read again by themselves: the server has many that you may not read.';
  return read.some(({ isPartial }) => isPartial)
    ? `Only the newest ${deliveriesMax} webhook deliveries that failed or wait were examined.`
    : undefined;
};
