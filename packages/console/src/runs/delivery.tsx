import type { WebhookDelivery } from '@svc/sdk';
import type { ReactNode } from 'react';
import { deliveryNames } from '../api/statuses.ts';
import { Button } from '../ui/button.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { duration } from '../ui/duration.ts';
import { ErrorNotice } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useSendDelivery, useSentText } from './sent-delivery.ts';

/** Older attempts are no longer stored. */
const storedMax = 20;

/** How many attempts have an outcome. The API's `attempt` is not shown: it restarts when a failed delivery is sent again. */
export const attemptCount = ({ attempts }: Pick<WebhookDelivery, 'attempts'>): string =>
  `${attempts.length}${attempts.length < storedMax ? '' : '+'}`;

const columns: readonly Column<WebhookDelivery['attempts'][number]>[] = [
  { name: 'When', cell: ({ at }) => <Ago at={at} /> },
  { name: 'Response', cell: ({ status }) => status ?? 'none' },
  { name: 'Error', className: 'wide', cell: ({ error }) => visibleText(error ?? '') },
  { name: 'Took', className: 'number', cell: ({ ms }) => duration(ms) },
];

/** The attempts to deliver one end of a run, newest first: the last response says what is wrong now. */
export const DeliveryAttempts = ({ attempts }: { attempts: WebhookDelivery['attempts'] }): ReactNode => (
  <DataTable
    label="Attempts, newest first"
    rows={attempts.toReversed()}
    columns={columns}
    keyOf={({ at }) => at}
  />
);

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

/** Sends a delivery again that failed, or now if it waits, and shows its outcome. A delivered one has nothing left to send. */
export const RetryDelivery = ({ delivery }: { delivery: WebhookDelivery }): ReactNode => {
  const { status } = delivery;
  const send = useSendDelivery(delivery);
  const sent = useSentText(delivery);
  return (
    <>
      {status !== 'delivered' && (
        <div>
          <Button disabled={send.isPending} onClick={() => send.mutate()}>
            {status === 'failed' ? 'Send again' : 'Send now'}
          </Button>
        </div>
      )}
      {/* Screen readers announce a change of an element that is there already. */}
      <p role="status">{sent !== undefined && visibleText(sent)}</p>
      <ErrorNotice error={send.error} />
    </>
  );
};
