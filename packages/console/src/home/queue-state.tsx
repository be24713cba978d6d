// The queue of the server and its workers, of all users: `/ready` needs no rights.
import { ApiError, type Readiness } from '@svc/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { duration } from '../ui/duration.ts';
import { Icon } from '../ui/icons.tsx';
import { countText } from '../ui/number-text.ts';
import { useNow } from '../ui/use-now.ts';
import type { Finding, Findings } from './finding.tsx';

/** Workers that come and go, and the age of the queue, are not notified. */
const pollMs = 5_000;

/** Changes of runs read it again, too: its key is one of `counts`. */
const useReadiness = (): UseQueryResult<Readiness> =>
  useServerQuery({
    queryKey: ['counts', 'ready'],
    read: (client, call) => client.ready(call),
    refetchInterval: pollMs,
  });

export const QueueTiles = (): ReactNode => {
  const { data, error, dataUpdatedAt } = useReadiness();
  const nowMs = useNow();
  const unread = error ? '?' : '…';
  // Numbers of a server that does not answer any more are not those of now.
  const known = error ? undefined : data;
  const waitsMs =
    known && known.oldest_pending_ms !== null
      ? known.oldest_pending_ms + Math.max(0, nowMs - dataUpdatedAt)
      : undefined;
  return (
    <>
      <Link to="/runs" search={{ status: ['pending'], sort: 'asc' }} className="tile" data-kind="pending">
        <Icon name="crons" size={18} />
        <strong>{known?.pending ?? unread}</strong>
        <span className="muted">
          {waitsMs === undefined ? 'pending' : `pending, one waits ${duration(waitsMs)} for a worker`}
        </span>
      </Link>
      <Link to="/runs" search={{ status: ['running'], sort: 'asc' }} className="tile" data-kind="running">
        <Icon name="runs" size={18} />
        <strong>{known?.running ?? unread}</strong>
        <span className="muted">{known ? `running; ${slotsText(known)}` : 'running'}</span>
      </Link>
    </>
  );
};

const slotsText = ({ slots, workers }: Readiness): string =>
  `${countText(workers, 'worker')}, ${countText(slots, 'slot')}`;

export const useServerState = (): Findings => {
  const { data, error } = useReadiness();
  // The server has answered that it is not ready: this is a finding, and no failure to read it.
  if (error instanceof ApiError && error.status === 503)
    return { found: [notReady(error.message)], error: null };
  return { found: data && failuresOf(data), error };
};

const notReady = (reason: string): Finding => ({
  key: 'not ready',
  tone: 'red',
  sentence: 'The server cannot execute runs now',
  reason,
  links: null,
});

const failuresOf = ({
  failed_graphs: graphs = [],
  failed_store_index: isIndexFailed,
  blocked_executors: blocked = 0,
}: Readiness): Finding[] => [
  ...graphs.map((graph): Finding => ({
    key: `graph ${graph}`,
    tone: 'red',
    sentence: `The graph ${graph} cannot be loaded: its runs fail`,
    reason: 'The log of the server has the reason.',
    links: (
      <Link to="/runs" search={{ graph, status: ['error'] }} className="button">
        Open its failed runs
      </Link>
    ),
  })),
  ...(isIndexFailed
    ? [
        {
          key: 'store index',
          tone: 'red',
          sentence: 'The embedding model of the store cannot be loaded: searches with a query fail',
          reason: 'The log of the server has the reason.',
          links: null,
        } satisfies Finding,
      ]
    : []),
  ...blockedExecutors(blocked),
];

/** Of the server process that answers; `/ready` counts them. */
export const blockedExecutors = (count: number): Finding[] =>
  count === 0
    ? []
    : [
        {
          key: 'blocked executors',
          tone: 'red',
          sentence: `${countText(count, 'executor')} of this server process blocked by a graph`,
          reason:
            'A node computes without a pause, so its executor executes no other run. Cancel the run, or move the computation out of the event loop.',
          links: null,
        },
      ];
