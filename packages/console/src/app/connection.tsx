import type { Client } from '@svc/sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { Ago } from '../ui/time.tsx';

const pollMs = 5_000;

/** Version and features of the server. */
const serverInfo = (client: Client) =>
  queryOptions({
    queryKey: ['connection'],
    queryFn: ({ signal }) => client.info({ signal }),
    retry: false,
  });

/** Whether the server has a guide at /docs/guide. */
export const useHasGuide = (): boolean => {
  const { data } = useQuery({
    ...serverInfo(useClient()),
    select: ({ flags }) => flags['guide'] === true,
  });
  return data ?? false;
};

/** Whether the server answers: it is asked again and again. */
export const Connection = (): ReactNode => {
  const { data, error, dataUpdatedAt } = useQuery({
    ...serverInfo(useClient()),
    refetchInterval: pollMs,
  });
  if (error)
    return (
      <span className="connection" data-state="away" role="status">
        server away
        {dataUpdatedAt > 0 && (
          <>
            {' '}
            since <Ago at={new Date(dataUpdatedAt).toISOString()} />
          </>
        )}
      </span>
    );
  return (
    <span
      className="connection"
      data-state={data ? 'live' : 'waiting'}
      title={data && `svc ${data.version}`}
      role="status"
    >
      {data ? 'live' : 'connecting'}
    </span>
  );
};
