import type { Run } from '@svc/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { type CountFilter, useAssistants, useThreadCount } from '../api/queries.ts';
import { usePollMs } from '../live/live-runs.tsx';
import { RunTable } from '../runs/run-table.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { Panel } from '../ui/panel.tsx';
import { ErrorNotice, Loaded, Skeleton } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { FirstHour } from './first-hour.tsx';
import { Attention } from './attention.tsx';
import { FiguresPanel } from './figures-panel.tsx';
import { dayMs } from './finding.tsx';
import { QueueTiles } from './queue-state.tsx';
import './home.css';

const shownRuns = 8;

export const HomePage = (): ReactNode => (
  <div className="page">
    <header className="page-head">
      <h1>Home</h1>
    </header>
    <div className="page-body pad stack home" tabIndex={0} role="region" aria-label="Home">
      <Content />
    </div>
  </div>
);

const Content = (): ReactNode => {
  const { data: runs, error } = useNewestRuns(false);
  const threads = useThreadCount({});
  const assistants = useAssistants();
  const isUnused = runs?.length === 0 && threads.data === 0;
  const [first] = assistants.data ?? [];
  if (runs === undefined && error === null) return <Skeleton />;
  if (isUnused && first)
    return (
      <>
        <FirstHour assistant={first} />
        <Attention isQuiet />
      </>
    );
  return (
    <>
      <div className="tiles">
        <QueueTiles />
        <Tile filter={{ has_interrupts: true }} label="waiting for a person" icon="inbox" to="/inbox" />
        <Tile
          filter={{ status: 'error' }}
          label="threads whose last run failed"
          icon="warning"
          to="/threads"
        />
        <Tile filter={{}} label="threads" icon="threads" to="/threads" />
      </div>
      <Attention />
      <FiguresPanel />
      <Assistants />
      <Newest title="Failures of the last day" isFailed />
      <Newest title="Newest runs" isFailed={false} />
    </>
  );
};

const Tile = ({
  filter,
  label,
  icon,
  to,
}: {
  filter: CountFilter;
  label: string;
  icon: IconName;
  to: '/inbox' | '/threads';
}): ReactNode => {
  const { status } = filter;
  const count = useThreadCount(filter);
  return (
    <Link
      to={to}
      search={to === '/threads' ? { status } : {}}
      className="tile"
      data-kind={filter.has_interrupts ? 'interrupted' : (status ?? 'all')}
    >
      <Icon name={icon} size={18} />
      <strong>{count.data ?? (count.error ? '?' : '…')}</strong>
      <span className="muted">{label}</span>
    </Link>
  );
};

const Assistants = (): ReactNode => {
  const assistants = useAssistants();
  return (
    <Panel title="Assistants">
      <Loaded query={assistants}>
        {(all) => (
          <ul className="assistants">
            {all.map(({ assistant_id: id, name, description, graph_id: graph }) => (
              <li key={id}>
                <Link to="/playground" search={{ assistant: id }} className="assistant">
                  <strong>{visibleText(name)}</strong>
                  <span className="muted">{visibleText(description ?? `graph ${graph}`)}</span>
                  <Icon name="right" size={14} />
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Panel>
  );
};

const useNewestRuns = (isFailed: boolean): UseQueryResult<Run[]> =>
  useServerQuery({
    queryKey: ['runs', 'newest', isFailed],
    read: (client, call) =>
      client.runs.search(
        {
          limit: shownRuns,
          ...(isFailed
            ? { status: ['error', 'timeout'], created_after: new Date(Date.now() - dayMs).toISOString() }
            : {}),
        },
        call,
      ),
    refetchInterval: usePollMs(5_000),
  });

const Newest = ({ title, isFailed }: { title: string; isFailed: boolean }): ReactNode => {
  const runs = useNewestRuns(isFailed);
  return (
    <Panel
      title={title}
      aside={
        <Link
          className="spread"
          to="/runs"
          search={isFailed ? { status: ['error', 'timeout'], since: '1d' } : {}}
        >
          All
        </Link>
      }
    >
      <ErrorNotice error={runs.data && runs.error} />
      <Loaded query={runs}>
        {(rows) => (
          <RunTable
            runs={rows}
            empty={
              <p className="muted pad">{isFailed ? 'No run has failed.' : 'No run has been started yet.'}</p>
            }
          />
        )}
      </Loaded>
    </Panel>
  );
};
