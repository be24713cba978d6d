import type { WebhookDelivery } from '@svc/sdk';

type Attempts = WebhookDelivery['attempts'];

/** What became of a delivery that a person has sent: its attempts before that, and those that are known now. */
export const sentText = (before: Attempts, now: Attempts): string => {
  const last = now.at(-1);
  if (last === undefined || last.at === before.at(-1)?.at) return 'Queued: it is sent at once.';
  const sent = before.length > 0 ? 'Sent again' : 'Sent';
  return last.status === undefined
    ? `${sent}, without a response: ${last.error ?? 'the reason is not known'}`
    : `${sent}: the receiver answered ${last.status}.`;
};
