import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { WebhookDelivery } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { visibleText } from '../values/visible-text.ts';
import { sentText } from './sent-text.ts';

/** Sends a delivery again that failed, or now if it waits, and says what became of it. A delivered one has nothing to send any more. */
export const RetryDelivery = ({ delivery }: { delivery: WebhookDelivery }): ReactNode => {
  const { delivery_id: id, run_id: runId, thread_id: threadId, status } = delivery;
  const client = useClient();
  const queries = useQueryClient();
  /** As it was when the button was pressed. */
  const [before, setBefore] = useState<WebhookDelivery>();
  const retry = useMutation({
    mutationFn: () => client.runs.retryWebhook(threadId, runId, id),
    onMutate: () => setBefore(delivery),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['webhooks'] }),
        queries.invalidateQueries({ queryKey: ['run', threadId, runId, 'webhooks'] }),
      ]),
  });
  return (
    <>
      {status !== 'delivered' && (
        <div>
          <button type="button" className="button" disabled={retry.isPending} onClick={() => retry.mutate()}>
            {status === 'failed' ? 'Send again' : 'Send now'}
          </button>
        </div>
      )}
      {/* Screen readers announce a change of an element that is there already. */}
      <p role="status">
        {before && retry.isSuccess && visibleText(sentText(before.attempts, delivery.attempts))}
      </p>
      <ErrorNotice error={retry.error} />
    </>
  );
};
