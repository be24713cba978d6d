import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { WebhookDelivery } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { ErrorNotice } from '../ui/states.tsx';

/** Sends a delivery again that failed, or now if it waits. A delivered one has nothing to send any more. */
export const RetryDelivery = ({ delivery }: { delivery: WebhookDelivery }): ReactNode => {
  const { delivery_id: id, run_id: runId, thread_id: threadId, status } = delivery;
  const client = useClient();
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => client.runs.retryWebhook(threadId, runId, id),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['webhooks'] }),
        queries.invalidateQueries({ queryKey: ['run', threadId, runId, 'webhooks'] }),
      ]),
  });
  if (status === 'delivered') return null;
  return (
    <>
      <div>
        <button type="button" className="button" disabled={retry.isPending} onClick={() => retry.mutate()}>
          {status === 'failed' ? 'Send again' : 'Send now'}
        </button>
      </div>
      <ErrorNotice error={retry.error} />
    </>
  );
};
