// Deliveries to webhooks of all runs, newest first. The filter is the query string.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { WebhookDelivery } from '@svc/sdk';
import { useEffect, useState, type ReactNode } from 'react';
import { deliveryNames, deliveryStatuses, type DeliveryStatus } from '../api/statuses.ts';
import { LoadOlder } from '../ui/paging.tsx';
import { Failure, Skeleton, State } from '../ui/states.tsx';
import { StatusChips } from '../ui/status-chips.tsx';
import { useDeliveries } from './delivery-queries.ts';
import { DeliveryTable } from './delivery-table.tsx';

const route = getRouteApi('/webhooks');

export const WebhooksPage = (): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <div className="page">
      <header className="page-head">
        <h1>Webhooks</h1>
        <span className="muted">Requests that report the end of a run</span>
      </header>
      <div className="filters" role="search" aria-label="Filter of deliveries">
        <StatusChips
          statuses={deliveryStatuses}
          names={deliveryNames}
          chosen={search.status}
          onChange={(status) => void navigate({ search: { status }, replace: true })}
        />
      </div>
      <div className="page-body" tabIndex={0} role="region" aria-label="Deliveries">
        <DeliveryList
          status={search.status}
          opened={search.sel}
          onOpen={(sel) => void navigate({ search: { ...search, sel }, replace: true })}
        />
      </div>
    </div>
  );
};

const DeliveryList = ({
  status,
  opened,
  onOpen,
}: {
  status: DeliveryStatus[] | undefined;
  opened: string | undefined;
  onOpen: (id: string | undefined) => void;
}): ReactNode => {
  const query = useDeliveries(status);
  const shown = query.data?.pages
    .flatMap((page) => page.deliveries)
    .find(({ delivery_id: id }) => id === opened);
  const [lastShown, setLastShown] = useState<WebhookDelivery>();
  useEffect(() => {
    if (shown) setLastShown(shown);
  }, [shown]);
  if (query.data === undefined)
    return query.error ? (
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton rows={12} />
    );
  const deliveries = query.data.pages.flatMap((page) => page.deliveries);
  return (
    <>
      {status !== undefined && !shown && opened !== undefined && lastShown?.delivery_id === opened && (
        <LeftTheList delivery={lastShown} />
      )}
      {deliveries.length > 0 ? (
        <DeliveryTable deliveries={deliveries} opened={opened} onOpen={onOpen} />
      ) : (
        <NoDeliveries isFiltered={status !== undefined} hasMore={query.hasNextPage} />
      )}
      <LoadOlder query={query} label="Load older deliveries" />
    </>
  );
};

/**
 * Sending a delivery again changes its status: without a word, it would vanish from a filtered list. It may also be
 * behind the last page that was loaded.
 */
const LeftTheList = ({ delivery }: { delivery: WebhookDelivery }): ReactNode => (
  <div className="pad">
    <div className="notice" data-tone="blue" role="status">
      <span className="notice-text">
        The delivery of run {delivery.run_id.slice(0, 8)} is no longer in this list.
      </span>
      <Link
        to="/runs/$runId"
        params={{ runId: delivery.run_id }}
        search={{ thread: delivery.thread_id, tab: 'webhooks' }}
      >
        Open it
      </Link>
    </div>
  </div>
);

const NoDeliveries = ({ isFiltered, hasMore }: { isFiltered: boolean; hasMore: boolean }): ReactNode => {
  if (hasMore)
    return (
      <State icon="webhooks" title="None of the newest deliveries is yours">
        <p className="muted">
          The server has many deliveries that you may not read. Older ones may be yours.
        </p>
      </State>
    );
  return isFiltered ? (
    <State icon="empty" title="No delivery has this status">
      <p className="muted">
        A delivery is waiting until its eighth attempt has failed, or its receiver has refused it.
      </p>
      <Link to="/webhooks" className="button">
        Clear the filter
      </Link>
    </State>
  ) : (
    <State icon="webhooks" title="There are no deliveries">
      <p className="muted">
        A run that is created with a <code>webhook</code> has a delivery when it has ended. Deliveries are
        kept for seven days after their last attempt.
      </p>
    </State>
  );
};
