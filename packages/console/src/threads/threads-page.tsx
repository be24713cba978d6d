// Threads by the filter in the address, the newest first.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { readByOffset } from '../app/download.ts';
import { FilterChips } from '../app/filter-chips.tsx';
import { shownColumns, useListSettings } from '../app/list-settings.ts';
import { ListTools } from '../app/list-tools.tsx';
import { metadataProblem, textHint } from '../app/metadata-filter.ts';
import { JobActions } from '../jobs/job-actions.tsx';
import { JobPanel } from '../jobs/job-panel.tsx';
import { useWatchedJob } from '../jobs/job-queries.ts';
import { previewOf } from '../messages/thread-preview.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { pageNumber, Pager, pageText } from '../ui/paging.tsx';
import { InvalidFilter, Loaded, NoMatch, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { ThreadBadge } from './thread-badge.tsx';
import { conditionsOf, defaultOrder, isFiltered, ownerOf, type ThreadFilter } from './thread-filter.ts';
import { ThreadFilters } from './thread-filters.tsx';
import { useThreads, useThreadTotal, type ThreadRow } from './thread-queries.ts';

const route = getRouteApi('/threads');
const jobKinds = ['prune_threads', 'delete_threads'] as const;

export const ThreadsPage = (): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { page: pageOfAddress, ...filter } = search;
  const page = pageNumber(pageOfAddress);
  const threads = useThreads(filter, page);
  const count = useThreadTotal(filter);
  const problem = metadataProblem(filter.meta ?? '');
  const { toggled } = useListSettings('threads');
  const watched = useWatchedJob(jobKinds);
  const change = (changed: typeof search): void =>
    void navigate({ search: { ...search, page: undefined, ...changed }, replace: true });
  return (
    <div className="page">
      <header className="page-head">
        <h1>Threads</h1>
        <span className="muted">{problem === undefined && count.data}</span>
        <JobActions
          kinds={jobKinds}
          isHidden={problem !== undefined || (threads.data ?? []).length === 0}
          problem={problem}
          isFiltered={isFiltered(filter)}
          filterOf={() => conditionsOf(filter, Date.now())}
          watched={watched}
        >
          <ThreadListTools filter={filter} isValid={problem === undefined} />
          <Link to="/playground" className="button">
            New thread in the playground
          </Link>
        </JobActions>
      </header>
      <ThreadFilters filter={filter} onChange={change} />
      <JobPanel {...watched} />
      <div className="page-body" tabIndex={0} role="region" aria-label="Threads">
        {problem === undefined ? (
          <>
            <Loaded query={threads}>
              {(rows) => (
                <DataTable
                  rows={rows}
                  columns={shownColumns(columns, toggled)}
                  keyOf={({ thread_id: threadId }) => threadId}
                  empty={<NoThreads filter={filter} />}
                />
              )}
            </Loaded>
            <Pager
              page={page}
              count={threads.data?.length}
              onPage={(next) => change({ page: pageText(next) })}
            />
          </>
        ) : (
          <InvalidFilter problem={problem}>
            <Link to="/threads" className="button">
              Clear the filter
            </Link>
          </InvalidFilter>
        )}
      </div>
    </div>
  );
};

/** Options of the search that the SDK of LangGraph has too. */
const sdkOptions = ['status', 'metadata', 'sort_by', 'sort_order', 'limit'];

const ThreadListTools = ({ filter, isValid }: { filter: ThreadFilter; isValid: boolean }): ReactNode => {
  const client = useClient();
  const settings = useListSettings('threads');
  const body = isValid
    ? {
        ...conditionsOf(filter, Date.now()),
        sort_by: filter.sort ?? defaultOrder,
        sort_order: 'desc' as const,
        limit: 50,
      }
    : undefined;
  const isInSdk = Object.keys(body ?? {}).every((name) => sdkOptions.includes(name));
  return (
    <ListTools
      list="threads"
      settings={settings}
      columns={columns}
      request={
        body && {
          call: {
            method: 'POST',
            path: '/threads/search',
            body,
            ...(isInSdk && { sdk: { name: 'threads.search', args: [], options: body } }),
          },
          read: readByOffset((page, signal) =>
            client.threads.search({ ...body, ...page, select: [...listed] }, { signal }),
          ),
        }
      }
    />
  );
};

/** Values may be large, and are not in the file. */
const listed = ['thread_id', 'status', 'metadata', 'created_at', 'updated_at', 'state_updated_at'] as const;

const NoThreads = ({ filter }: { filter: ThreadFilter }): ReactNode =>
  isFiltered(filter) ? (
    <NoMatch noun="thread" to="/threads">
      {textHint(filter.meta) !== undefined && <p className="muted">{textHint(filter.meta)}</p>}
    </NoMatch>
  ) : (
    <State icon="empty" title="There are no threads yet">
      <p className="muted">
        A thread is a conversation with a state. The first message in the playground makes one.
      </p>
      <Link to="/playground" className="button" data-kind="primary">
        Open the playground
      </Link>
    </State>
  );

const shown = (text: string): string => visibleText(text.slice(0, 60));

const columns: readonly Column<ThreadRow>[] = [
  { name: 'Status', cell: ({ status, asks }) => <ThreadBadge status={status} asks={asks} /> },
  {
    name: 'Thread',
    isFixed: true,
    cell: ({ thread_id: threadId }) => (
      <Link
        to="/threads/$threadId"
        params={{ threadId }}
        data-row
        className="mono"
        aria-label={`Thread ${threadId}`}
      >
        {threadId.slice(0, 8)}
      </Link>
    ),
  },
  {
    name: 'Graph',
    cell: ({ metadata: { graph_id: graph } }) => typeof graph === 'string' && shown(graph),
  },
  { name: 'Newest message', className: 'wide', cell: (thread) => visibleText(previewOf(thread)) },
  { name: 'Owner', className: 'optional', cell: (thread) => <OwnerLink owner={ownerOf(thread)} /> },
  {
    name: 'Metadata',
    isExtra: true,
    cell: ({ metadata }) => <FilterChips list="/threads" metadata={metadata} />,
  },
  { name: 'State changed', className: 'number', cell: (thread) => <Ago at={thread.state_updated_at} /> },
  { name: 'Created', className: 'number optional', cell: (thread) => <Ago at={thread.created_at} /> },
];

/** Filters the list by the owner, beside the rest of the filter. */
const OwnerLink = ({ owner }: { owner: string | undefined }): ReactNode =>
  owner !== undefined && (
    <Link
      from="/threads"
      to="."
      search={(search) => ({ ...search, owner, page: undefined })}
      title="Show the threads of this owner"
    >
      {shown(owner)}
    </Link>
  );
