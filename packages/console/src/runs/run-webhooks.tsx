// The deliveries of a run's end to its webhook.
import type { Run, WebhookDelivery } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { isOpen } from '../api/statuses.ts';
import { Fact } from '../ui/panel.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Ago, Until } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { attemptCount, DeliveryAttempts, DeliveryBadge, RetryDelivery } from './delivery.tsx';

const pollMs = 2_000;

export const RunWebhooks = ({ run }: { run: Run }): ReactNode => {
  const query = useServerQuery({
    queryKey: ['run', run.thread_id, run.run_id, 'webhooks', run.status],
    read: (client, call) => client.runs.webhooks(run.thread_id, run.run_id, call),
    refetchInterval: ({ state }) =>
      isOpen(run.status) || state.data?.some(({ status }) => status === 'pending') === true ? pollMs : false,
  });
  return (
    <Loaded query={query}>
      {(deliveries) =>
        deliveries.length === 0 ? (
          <State icon="empty" title="Nothing is delivered to a webhook">
            <p className="muted">
              {isOpen(run.status)
                ? 'A run with a webhook has a delivery when it has ended.'
                : 'The run was created without a webhook, or its deliveries are no longer kept.'}
            </p>
          </State>
        ) : (
          <div className="stack">
            {deliveries.map((delivery) => (
              <Delivery key={delivery.delivery_id} delivery={delivery} />
            ))}
          </div>
        )
      }
    </Loaded>
  );
};

const Delivery = ({ delivery }: { delivery: WebhookDelivery }): ReactNode => {
  const { url, error, next_attempt_at: next, ended_at: ended } = delivery;
  return (
    <section className="panel" aria-label={`Delivery to ${url}`}>
      <div className="panel-head">
        <DeliveryBadge delivery={delivery} />
        <code>{visibleText(url)}</code>
      </div>
      <dl className="facts pad">
        <Fact name="Attempts" value={attemptCount(delivery)} />
        <Fact name="Last error" value={error !== null && visibleText(error)} />
        <Fact name="Next attempt" value={next !== null && <Until at={next} />} />
        <Fact name="Ended" value={ended !== null && <Ago at={ended} />} />
      </dl>
      {delivery.attempts.length > 0 && <DeliveryAttempts attempts={delivery.attempts} />}
      <div className="pad">
        <RetryDelivery delivery={delivery} />
      </div>
    </section>
  );
};
