import type { ReactNode } from 'react';
import { deliveryNames, type DeliveryStatus } from '../api/statuses.ts';

const tones = { pending: 'blue', delivered: 'green', failed: 'red' } as const;

export const DeliveryBadge = ({ status }: { status: DeliveryStatus }): ReactNode => (
  <span className="badge" data-tone={tones[status]}>
    {deliveryNames[status]}
  </span>
);
