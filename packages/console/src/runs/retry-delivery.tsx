import type { WebhookDelivery } from '@svc/sdk';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useSendDelivery, useSentText } from './sent-delivery.ts';

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
