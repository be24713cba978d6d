import type { WebhookDelivery } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { attemptCount, DeliveryAttempts, DeliveryBadge, RetryDelivery } from '../runs/delivery.tsx';
import { type Column, DataTable, RowToggle } from '../ui/data-table.tsx';
import { Fact } from '../ui/panel.tsx';
import { Ago, Until } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

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
  <DataTable
    rows={deliveries}
    columns={columnsOf({ opened, onOpen })}
    keyOf={({ delivery_id: id }) => id}
    opened={{
      key: opened,
      label: ({ url }) => `Delivery to ${url}`,
      details: (delivery) => <Opened delivery={delivery} />,
    }}
  />
);

const columnsOf = ({ opened, onOpen }: Opening): Column<WebhookDelivery>[] => [
  { name: 'Status', cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  {
    name: 'URL',
    cell: ({ delivery_id: id, url, run_id: runId }) => (
      <RowToggle
        label={`Attempts to call ${visibleText(url)} for run ${runId}`}
        title={url}
        isOpen={id === opened}
        onToggle={() => onOpen(id === opened ? undefined : id)}
      >
        {visibleText(url)}
      </RowToggle>
    ),
  },
  {
    name: 'Run',
    cell: ({ run_id: runId, thread_id: thread }) => (
      <Link
        to="/runs/$runId"
        params={{ runId }}
        search={{ thread, tab: 'webhooks' }}
        className="mono"
        aria-label={`Run ${runId}`}
      >
        {runId.slice(0, 8)}
      </Link>
    ),
  },
  {
    name: 'Thread',
    cell: ({ thread_id: threadId }) => (
      <Link to="/threads/$threadId" params={{ threadId }} className="mono" aria-label={`Thread ${threadId}`}>
        {threadId.slice(0, 8)}
      </Link>
    ),
  },
  { name: 'Attempts', className: 'number', cell: attemptCount },
  {
    name: 'Last error',
    className: 'wide',
    title: ({ error }) => error ?? undefined,
    cell: ({ error }) => visibleText((error ?? '').slice(0, 300)),
  },
  {
    name: 'Next attempt',
    className: 'number',
    cell: ({ next_attempt_at: next }) => next !== null && <Until at={next} />,
  },
  { name: 'Run ended', className: 'number optional', cell: (delivery) => <Ago at={delivery.created_at} /> },
];

const Opened = ({ delivery }: { delivery: WebhookDelivery }): ReactNode => {
  const { url, error, attempts, ended_at: ended } = delivery;
  return (
    <>
      <dl className="facts">
        <Fact name="URL" value={<code>{visibleText(url)}</code>} />
        <Fact name="Last error" value={error !== null && visibleText(error)} />
        <Fact name="Ended" value={ended !== null && <Ago at={ended} />} />
      </dl>
      {attempts.length > 0 ? (
        <DeliveryAttempts attempts={attempts} />
      ) : (
        <p className="muted">No attempt has an outcome yet.</p>
      )}
      <RetryDelivery delivery={delivery} />
    </>
  );
};
