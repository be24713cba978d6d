// The server processes of the last day, with the runs that they execute.
import type { ServerWorker } from '@svc/sdk';
import type { ReactNode } from 'react';
import { KeyForm, needsOtherKey, type KeyNeed } from '../platform/key-gate.tsx';
import { usePlatformQuery } from '../platform/platform-access.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { ErrorNotice, Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

const pollMs = 5_000;
/** Names of graphs that one row shows. */
const graphsMax = 5;

export const Workers = ({ need }: { need: KeyNeed }): ReactNode => {
  const query = usePlatformQuery({
    queryKey: ['workspaces', 'workers'],
    read: (client, call) => client.server.workers(call),
    refetchInterval: pollMs,
  });
  if (needsOtherKey(query.error)) return <KeyForm need={need} refusal={query.error} />;
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Workers">
      <ErrorNotice error={query.data && query.error} />
      <Loaded query={query}>
        {(workers) => (
          <DataTable
            rows={workers}
            columns={columns}
            keyOf={(worker) => worker.worker_id}
            empty={<State icon="settings" title="No server process has reported itself in the last day" />}
          />
        )}
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

const columns: readonly Column<ServerWorker>[] = [
  {
    name: 'Process',
    className: 'mono',
    isHeader: true,
    title: (worker) => worker.worker_id,
    cell: ({ name }) => visibleText(name),
  },
  {
    name: 'State',
    cell: ({ state }) => (
      <span className="badge" data-tone={tones[state]}>
        {state}
      </span>
    ),
  },
  { name: 'Running', className: 'number', cell: ({ running }) => running },
  { name: 'Slots', className: 'number', cell: ({ slots }) => slots },
  {
    name: 'Blocked executors',
    className: 'number',
    cell: ({ blocked_executors: blocked }) =>
      blocked === 0 ? (
        0
      ) : (
        <span className="badge" data-tone="red">
          {blocked}
        </span>
      ),
  },
  { name: 'Graphs', className: 'optional', cell: ({ graphs }) => graphsText(graphs) },
  { name: 'Connections', className: 'number optional', cell: ({ connections }) => connections },
  { name: 'Started', cell: (worker) => <Ago at={worker.started_at} /> },
  { name: 'Last report', cell: (worker) => <Ago at={worker.seen_at} /> },
];

const graphsText = (graphs: ServerWorker['graphs']): string => {
  const more = graphs.length - graphsMax;
  return `${graphs.slice(0, graphsMax).map(visibleText).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};
