// The server processes of the last day, with the runs that they execute.
import { useQuery } from '@tanstack/react-query';
import type { PlatformClient, ServerWorker } from '@svc/sdk';
import type { ReactNode } from 'react';
import { KeyForm, needsOtherKey, type KeyNeed } from '../platform/key-gate.tsx';
import { ErrorNotice, Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';

const pollMs = 5_000;
/** Names of graphs that one row shows. */
const graphsMax = 5;

export const Workers = ({ client, need }: { client: PlatformClient; need: KeyNeed }): ReactNode => {
  const query = useQuery({
    queryKey: ['workspaces', 'workers'],
    queryFn: ({ signal }) => client.server.workers({ signal }),
    refetchInterval: pollMs,
  });
  if (needsOtherKey(query.error)) return <KeyForm need={need} refusal={query.error} />;
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Workers">
      <ErrorNotice error={query.data && query.error} />
      <Loaded query={query}>
        {(workers) =>
          workers.length === 0 ? (
            <State icon="settings" title="No server process has reported itself in the last day" />
          ) : (
            <WorkerTable workers={workers} />
          )
        }
      </Loaded>
    </div>
  );
};

const tones: Record<ServerWorker['state'], string> = {
  live: 'green',
  draining: 'amber',
  left: 'grey',
  silent: 'red',
};

const WorkerTable = ({ workers }: { workers: readonly ServerWorker[] }): ReactNode => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">Process</th>
        <th scope="col">State</th>
        <th scope="col" className="number">
          Running
        </th>
        <th scope="col" className="number">
          Slots
        </th>
        <th scope="col" className="optional">
          Graphs
        </th>
        <th scope="col" className="number optional">
          Connections
        </th>
        <th scope="col">Started</th>
        <th scope="col">Last report</th>
      </tr>
    </thead>
    <tbody>
      {workers.map(({ worker_id: id, name, state, running, slots, graphs, connections, ...times }) => (
        <tr key={id} style={{ cursor: 'default' }}>
          <th scope="row" className="mono" title={id}>
            {visibleText(name)}
          </th>
          <td>
            <span className="badge" data-tone={tones[state]}>
              {state}
            </span>
          </td>
          <td className="number">{running}</td>
          <td className="number">{slots}</td>
          <td className="optional">{graphsText(graphs)}</td>
          <td className="number optional">{connections}</td>
          <td>
            <Ago at={times.started_at} />
          </td>
          <td>
            <Ago at={times.seen_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const graphsText = (graphs: ServerWorker['graphs']): string => {
  const more = graphs.length - graphsMax;
  return `${graphs.slice(0, graphsMax).map(visibleText).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};
