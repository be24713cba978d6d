// Which deliveries of one page of a search, newest first, need somebody.
import type { WebhookDelivery } from '@svc/sdk';
import { hasEndedEarly } from '../api/delivery-pages.ts';
import { dayMs } from './finding.tsx';

export const deliveriesMax = 100;
/** Longer than the seven waits between the attempts of a delivery that has failed in the last day. */
const coveredMs = 2 * dayMs;

export interface Failing {
  deliveries: WebhookDelivery[];
  /** All deliveries of the page are failing, and it has a next page. */
  hasMore: boolean;
  /** Behind the page there may be others that are failing. */
  isPartial: boolean;
  /** The server has ended the page early. */
  isExpensive: boolean;
}

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
