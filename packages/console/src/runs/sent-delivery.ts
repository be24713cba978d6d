// A delivery that a person has sent, and its outcome. The cache of mutations keeps it when its row leaves a filtered list.
import { useMutation, useMutationState, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type { Client, WebhookDelivery } from '@svc/sdk';
import { useClient, useServerQuery } from '../api/client.tsx';

/** Receivers answer within 10 seconds: until then, the outcome is read often. */
const soonMs = 10_000;
const soonPollMs = 500;
const pollMs = 5_000;

const keyOf = ({ delivery_id: id }: Pick<WebhookDelivery, 'delivery_id'>) => ['send delivery', id];

/** Reads again what shows the deliveries of the run. */
const rereadDeliveries = (queries: QueryClient, { thread_id, run_id }: WebhookDelivery): Promise<unknown> =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ['webhooks'] }),
    queries.invalidateQueries({ queryKey: ['run', thread_id, run_id, 'webhooks'] }),
  ]);

export const useSendDelivery = (delivery: WebhookDelivery) => {
  const client = useClient();
  const queries = useQueryClient();
  const { thread_id: threadId, run_id: runId, delivery_id: id } = delivery;
  return useMutation({
    mutationKey: keyOf(delivery),
    mutationFn: () => client.runs.retryWebhook(threadId, runId, id),
    onSettled: () => rereadDeliveries(queries, delivery),
  });
};

const readOutcome = async (
  client: Client,
  queued: WebhookDelivery,
  signal: AbortSignal,
): Promise<WebhookDelivery | null> => {
  const deliveries = await client.runs.webhooks(queued.thread_id, queued.run_id, { signal });
  const now = deliveries.find(({ delivery_id: id }) => id === queued.delivery_id);
  return now && now.attempts.at(-1)?.at !== queued.attempts.at(-1)?.at ? now : null;
};

/** What became of the delivery that was sent last; undefined when nobody has sent it from this page. */
export const useSentText = (delivery: WebhookDelivery): string | undefined => {
  const queries = useQueryClient();
  const sent = useMutationState({
    filters: { mutationKey: keyOf(delivery), exact: true, status: 'success' },
    // The delivery as it was when the server had queued it.
    select: ({ state }) => ({ queued: state.data as WebhookDelivery, sentMs: state.submittedAt }),
  }).at(-1);
  const outcome = useServerQuery({
    enabled: sent !== undefined,
    queryKey: ['sent delivery', delivery.delivery_id, sent?.sentMs],
    read: async (client, call) => {
      const now = sent ? await readOutcome(client, sent.queued, call.signal) : null;
      if (now) void rereadDeliveries(queries, now);
      return now;
    },
    staleTime: ({ state }) => (state.data ? Infinity : 0),
    refetchInterval: ({ state }) => {
      if (state.data) return false;
      return Date.now() < (sent?.sentMs ?? 0) + soonMs ? soonPollMs : pollMs;
    },
  });
  return sent && sentText(sent.queued.attempts, outcome.data ?? undefined);
};

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
