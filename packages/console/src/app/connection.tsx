import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { Ago } from '../ui/time.tsx';

const pollMs = 5_000;

/** Whether the server answers. */
export const Connection = (): ReactNode => {
  const client = useClient();
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['connection'],
    queryFn: ({ signal }) => client.info({ signal }),
    refetchInterval: pollMs,
    retry: false,
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
