import type { Client } from '@svc/sdk';
import { onlineManager, queryOptions, useQuery } from '@tanstack/react-query';
import { useSyncExternalStore, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useLiveState } from '../live/live-runs.tsx';
import { Ago } from '../ui/time.tsx';

const pollMs = 5_000;
/** The version can have changed; notifications show whether the server is there. */
const liveMs = 60_000;

/** Version and features of the server. */
const serverInfo = (client: Client) =>
  queryOptions({
    queryKey: ['connection'],
    queryFn: ({ signal }) => client.info({ signal }),
    retry: false,
  });

const subscribeToReach = (subscriber: () => void): (() => void) => onlineManager.subscribe(subscriber);
const canReachNow = (): boolean => onlineManager.isOnline();

/** Whether the server answers, and whether the page gets changes of runs as they happen. */
export const Connection = (): ReactNode => {
  const live = useLiveState();
  const canReach = useSyncExternalStore(subscribeToReach, canReachNow);
  const { data, error, dataUpdatedAt } = useQuery({
    ...serverInfo(useClient()),
    refetchInterval: live === 'live' ? liveMs : pollMs,
  });
  if ((error || !canReach) && live !== 'live')
    return (
      <span className="connection" data-state="away" role="status">
        server away
        {dataUpdatedAt > 0 && (
          <>
            , last answer <Ago at={new Date(dataUpdatedAt).toISOString()} />
          </>
        )}
      </span>
    );
  if (data && live === 'lost')
    return (
      <span
        className="connection"
        data-state="polling"
        title="Notifications of changes are interrupted: lists are read every few seconds."
        role="status"
      >
        catching up
      </span>
    );
  const isLive = data !== undefined && live !== 'opening';
  return (
    <span
      className="connection"
      data-state={isLive ? 'live' : 'waiting'}
      title={data && `svc ${data.version}`}
      role="status"
    >
      {isLive ? 'live' : 'connecting'}
    </span>
  );
};
