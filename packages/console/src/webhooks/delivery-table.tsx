import { Link } from '@tanstack/react-router';
import type { WebhookDelivery } from '@svc/sdk';
import { Fragment, type ReactNode } from 'react';
import { attemptCount, DeliveryAttempts } from '../runs/delivery-attempts.tsx';
import { DeliveryBadge } from '../runs/delivery-badge.tsx';
import { RetryDelivery } from '../runs/retry-delivery.tsx';
import { Ago, Until } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import './webhooks.css';

interface Opening {
  /** The id of the delivery whose attempts are shown. */
  opened: string | undefined;
  onOpen: (id: string | undefined) => void;
}

export const DeliveryTable = ({
  deliveries,
  opened,
  onOpen,
}: { deliveries: readonly WebhookDelivery[] } & Opening): ReactNode => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">URL</th>
        <th scope="col">Run</th>
        <th scope="col">Thread</th>
        <th scope="col" className="number">
          Attempts
        </th>
        <th scope="col">Last error</th>
        <th scope="col" className="number">
          Next attempt
        </th>
        <th scope="col" className="number optional">
          Run ended
        </th>
      </tr>
    </thead>
    <tbody>
      {deliveries.map((delivery) => {
        const isOpen = delivery.delivery_id === opened;
        return (
          <Fragment key={delivery.delivery_id}>
            <DeliveryRow
              delivery={delivery}
              isOpen={isOpen}
              onToggle={() => onOpen(isOpen ? undefined : delivery.delivery_id)}
            />
            {isOpen && <Opened delivery={delivery} />}
          </Fragment>
        );
      })}
    </tbody>
  </table>
);

const DeliveryRow = ({
  delivery,
  isOpen,
  onToggle,
}: {
  delivery: WebhookDelivery;
  isOpen: boolean;
  onToggle: () => void;
}): ReactNode => {
  const { url, run_id: runId, thread_id: threadId, next_attempt_at: next } = delivery;
  return (
    <tr onClick={onToggle} aria-selected={isOpen}>
      <td>
        <DeliveryBadge delivery={delivery} />
      </td>
      <td>
        <button
          type="button"
          data-row
          className="button mono webhook-url"
          data-kind="plain"
          aria-expanded={isOpen}
          aria-label={`Attempts to call ${visibleText(url)} for run ${runId}`}
          title={url}
          onClick={(event) => (event.stopPropagation(), onToggle())}
        >
          {visibleText(url)}
        </button>
      </td>
      <td onClick={(event) => event.stopPropagation()}>
        <Link
          to="/runs/$runId"
          params={{ runId }}
          search={{ thread: threadId, tab: 'webhooks' }}
          className="mono"
          aria-label={`Run ${runId}`}
        >
          {runId.slice(0, 8)}
        </Link>
      </td>
      <td onClick={(event) => event.stopPropagation()}>
        <Link
          to="/threads/$threadId"
          params={{ threadId }}
          className="mono"
          aria-label={`Thread ${threadId}`}
        >
          {threadId.slice(0, 8)}
        </Link>
      </td>
      <td className="number">{attemptCount(delivery)}</td>
      <td className="wide" title={delivery.error ?? undefined}>
        {visibleText((delivery.error ?? '').slice(0, 300))}
      </td>
      <td className="number">{next !== null && <Until at={next} />}</td>
      <td className="number optional">
        <Ago at={delivery.created_at} />
      </td>
    </tr>
  );
};

const Opened = ({ delivery }: { delivery: WebhookDelivery }): ReactNode => {
  const { url, error, attempts, ended_at: ended } = delivery;
  return (
    <tr className="webhook-opened">
      <td colSpan={8} className="webhook-cell">
        <div className="webhook-detail" role="region" aria-label={`Delivery to ${url}`}>
          <dl className="facts">
            <dt>URL</dt>
            <dd>
              <code>{visibleText(url)}</code>
            </dd>
            {error !== null && (
              <>
                <dt>Last error</dt>
                <dd>{visibleText(error)}</dd>
              </>
            )}
            {ended !== null && (
              <>
                <dt>Ended</dt>
                <dd>
                  <Ago at={ended} />
                </dd>
              </>
            )}
          </dl>
          {attempts.length > 0 ? (
            <DeliveryAttempts attempts={attempts} />
          ) : (
            <p className="muted">No attempt has an outcome yet.</p>
          )}
          <RetryDelivery delivery={delivery} />
        </div>
      </td>
    </tr>
  );
};
