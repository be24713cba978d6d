// Deliveries to webhooks of all runs, newest first. The filter is the query string.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
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
  if (query.data === undefined)
    return query.error ? (
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton rows={12} />
    );
  const deliveries = query.data.pages.flatMap((page) => page.deliveries);
  return (
    <>
      {deliveries.length > 0 ? (
        <DeliveryTable deliveries={deliveries} opened={opened} onOpen={onOpen} />
      ) : (
        <NoDeliveries isFiltered={status !== undefined} hasMore={query.hasNextPage} />
      )}
      <LoadOlder query={query} label="Load older deliveries" />
    </>
  );
};

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
