import type { WebhookDelivery } from '@svc/sdk';
import type { ReactNode } from 'react';
import { deliveryNames } from '../api/statuses.ts';

const tones = { pending: 'blue', delivered: 'green', failed: 'red' } as const;

/** A pending delivery with an error is retried; one without an error has not been sent yet. */
export const DeliveryBadge = ({
  delivery: { status, error },
}: {
  delivery: Pick<WebhookDelivery, 'status' | 'error'>;
}): ReactNode => {
  const isRetried = status === 'pending' && error !== null;
  return (
    <span className="badge" data-tone={isRetried ? 'amber' : tones[status]}>
      {isRetried ? 'retrying' : deliveryNames[status]}
    </span>
  );
};
