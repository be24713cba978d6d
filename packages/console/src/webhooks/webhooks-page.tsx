// Deliveries to webhooks of all runs, newest first. The filter is the query string.
import type { WebhookDelivery } from '@svc/sdk';
import { keepPreviousData } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { hasEndedEarly, usePagedQuery } from '../api/paged-query.ts';
import { deliveryNames, type DeliveryStatus, deliveryStatuses } from '../api/statuses.ts';
import { useSentText } from '../runs/sent-delivery.ts';
import { StatusChips } from '../ui/filters.tsx';
import { LoadedPages } from '../ui/paging.tsx';
import { State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
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
  return (
    <>
      {status !== undefined && !shown && opened !== undefined && lastShown?.delivery_id === opened && (
        <LeftTheList delivery={lastShown} />
      )}
      <LoadedPages query={query} rowsOf={(page) => page.deliveries} more="Load older deliveries">
        {(deliveries) =>
          deliveries.length > 0 ? (
            <DeliveryTable deliveries={deliveries} opened={opened} onOpen={onOpen} />
          ) : (
            <NoDeliveries status={status} hasMore={query.hasNextPage} />
          )
        }
      </LoadedPages>
    </>
  );
};

/**
 * Sending a delivery again changes its status, which removes it from a filtered list. It may also be behind the last
 * page that was loaded.
 */
const LeftTheList = ({ delivery }: { delivery: WebhookDelivery }): ReactNode => {
  const sent = useSentText(delivery);
  return (
    <div className="pad">
      <div className="notice" data-tone="blue" role="status">
        <span className="notice-text">
          {sent !== undefined && `${visibleText(sent)} `}
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
};

/** When a delivery gets the status. */
const meanings: Record<DeliveryStatus, string> = {
  pending: 'A delivery waits until it is delivered, its receiver refuses it, or its eighth attempt fails.',
  delivered: 'A delivery is delivered when its receiver has answered with a status of 200 to 299.',
  failed: 'A delivery fails when its receiver refuses it, or when its eighth attempt fails.',
};

const NoDeliveries = ({
  status,
  hasMore,
}: {
  status: DeliveryStatus[] | undefined;
  hasMore: boolean;
}): ReactNode => {
  if (hasMore)
    return (
      <State icon="webhooks" title="None of the newest deliveries is yours">
        <p className="muted">
          The server has many deliveries that you may not read. Older ones may be yours.
        </p>
      </State>
    );
  return status ? (
    <State
      icon="empty"
      title={`No delivery has ${status.length === 1 ? 'this status' : 'one of these statuses'}`}
    >
      {status.map((one) => (
        <p key={one} className="muted">
          {meanings[one]}
        </p>
      ))}
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

const pollMs = 5_000;
const pageSize = 50;
/** Pages that are read again while they are visible. Older ones change rarely. */
const livePages = 3;

/** The newest first. */
const useDeliveries = (status: DeliveryStatus[] | undefined) => {
  const client = useClient();
  return usePagedQuery({
    queryKey: ['webhooks', status],
    read: (cursor, call) => client.runs.searchWebhooks({ status, limit: pageSize, cursor }, call),
    next: ({ next }) => next,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const isExpensive = pages.some((page) => hasEndedEarly(page, pageSize));
      return pages.length <= livePages && !isExpensive ? pollMs : false;
    },
  });
};
