import type { WebhookDelivery } from '@svc/sdk';

type Attempts = WebhookDelivery['attempts'];

/** What follows the attempt. */
const next: Record<WebhookDelivery['status'], string> = {
  delivered: '',
  pending: ' Another attempt follows.',
  failed: ' No other attempt follows.',
};

/** What became of a delivery that a person has sent. `now`: undefined until the attempt has an outcome. */
export const sentText = (
  before: Attempts,
  now: Pick<WebhookDelivery, 'attempts' | 'status'> | undefined,
): string => {
  const last = now?.attempts.at(-1);
  if (now === undefined || last === undefined) return 'Queued: it is sent at once.';
  const sent = before.length > 0 ? 'Sent again' : 'Sent';
  const outcome =
    last.status === undefined
      ? `${sent}, without a response: ${last.error ?? 'the reason is not known'}.`
      : `${sent}: the receiver answered ${last.status}.`;
  return `${outcome}${next[now.status]}`;
};
