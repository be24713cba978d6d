import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { Thread } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useThreadCount, useThreads, type ThreadFilter } from '../api/queries.ts';
import { threadStatuses } from '../api/statuses.ts';
import { isId, metadataOf } from '../app/search-text.ts';
import { GraphSelect } from '../graph/graph-select.tsx';
import { StatusBadge } from '../ui/badge.tsx';
import { Pager, pageSize, pageText } from '../ui/paging.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { previewOf } from './preview.ts';

const route = getRouteApi('/threads');

type Search = ReturnType<typeof route.useSearch>;

const filterOf = ({ status, graph, meta, sort, page }: Search): ThreadFilter => {
  const metadata = { ...metadataOf(meta), ...(graph === undefined ? {} : { graph_id: graph }) };
  return {
    status,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    sort: sort ?? 'state_updated_at',
    offset: Math.max(0, (Number(page ?? '1') || 1) - 1) * pageSize,
    limit: pageSize,
  };
};

export const ThreadsPage = (): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = filterOf(search);
  const threads = useThreads(filter);
  const count = useThreadCount({ status: filter.status, metadata: filter.metadata });
  const change = (changed: Partial<Search>): void =>
    void navigate({ search: { ...search, page: undefined, ...changed }, replace: true });
  const page = filter.offset / pageSize + 1;
  return (
    <div className="page">
      <header className="page-head">
        <h1>Threads</h1>
        <span className="muted">{count.data}</span>
        <div className="page-actions">
          <Link to="/playground" className="button">
            New thread in the playground
          </Link>
        </div>
      </header>
      <Filters search={search} onChange={change} />
      <div className="page-body" tabIndex={0} role="region" aria-label="Threads">
        <Loaded query={threads}>
          {(rows) =>
            rows.length === 0 ? <NoThreads isFiltered={isFiltered(search)} /> : <ThreadTable threads={rows} />
          }
        </Loaded>
        <Pager page={page} count={threads.data?.length} onPage={(next) => change({ page: pageText(next) })} />
      </div>
    </div>
  );
};

const isFiltered = ({ status, graph, meta }: Search): boolean =>
  [status, graph, meta].some((value) => value !== undefined);

const NoThreads = ({ isFiltered: hasFilter }: { isFiltered: boolean }): ReactNode =>
  hasFilter ? (
    <State icon="empty" title="No thread matches the filter">
      <Link to="/threads" className="button">
        Clear the filter
      </Link>
    </State>
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

const ThreadTable = ({ threads }: { threads: readonly Thread[] }): ReactNode => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">Thread</th>
        <th scope="col">Graph</th>
        <th scope="col">Newest message</th>
        <th scope="col" className="optional">
          Owner
        </th>
        <th scope="col" className="number">
          State changed
        </th>
        <th scope="col" className="number optional">
          Created
        </th>
      </tr>
    </thead>
    <tbody>
      {threads.map((thread) => (
        <ThreadRow key={thread.thread_id} thread={thread} />
      ))}
    </tbody>
  </table>
);

const textOf = (value: unknown): string => (typeof value === 'string' ? visibleText(value.slice(0, 60)) : '');

const ThreadRow = ({ thread }: { thread: Thread }): ReactNode => {
  const navigate = useNavigate();
  const { thread_id: threadId, metadata } = thread;
  const target = { to: '/threads/$threadId', params: { threadId } } as const;
  return (
    <tr onClick={() => void navigate(target)}>
      <td>
        <StatusBadge status={thread.status} />
      </td>
      <td>
        <Link {...target} data-row className="mono" aria-label={`Thread ${threadId}`}>
          {threadId.slice(0, 8)}
        </Link>
      </td>
      <td>{textOf(metadata['graph_id'])}</td>
      <td className="wide">{visibleText(previewOf(thread))}</td>
      <td className="optional">{textOf(metadata['svc_auth_user_id'])}</td>
      <td className="number">
        <Ago at={thread.state_updated_at} />
      </td>
      <td className="number optional">
        <Ago at={thread.created_at} />
      </td>
    </tr>
  );
};

const Filters = ({
  search,
  onChange,
}: {
  search: Search;
  onChange: (changed: Partial<Search>) => void;
}): ReactNode => {
  return (
    <div className="filters" role="search" aria-label="Filter of threads">
      <div className="chips" role="group" aria-label="Status">
        {threadStatuses.map((status) => (
          <button
            key={status}
            type="button"
            className="chip"
            aria-pressed={search.status === status}
            onClick={() => onChange({ status: search.status === status ? undefined : status })}
          >
            {status}
          </button>
        ))}
      </div>
      <GraphSelect graph={search.graph} onChange={(changed) => onChange({ graph: changed })} />
      <FreeField search={search} onChange={onChange} />
      <select
        className="field"
        aria-label="Order"
        value={search.sort ?? 'state_updated_at'}
        onChange={(event) => onChange({ sort: event.target.value as Search['sort'] })}
      >
        <option value="state_updated_at">Newest state first</option>
        <option value="created_at">Newest first</option>
        <option value="updated_at">Newest change first</option>
      </select>
    </div>
  );
};

/** An id opens its thread; `key:value` filters by metadata. */
const FreeField = ({
  search,
  onChange,
}: {
  search: Search;
  onChange: (changed: Partial<Search>) => void;
}): ReactNode => {
  const navigate = useNavigate();
  const [text, setText] = useState(search.meta ?? '');
  const submit = (): void => {
    const trimmed = text.trim();
    if (isId(trimmed)) void navigate({ to: '/threads/$threadId', params: { threadId: trimmed } });
    else onChange({ meta: trimmed || undefined });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <input
        className="field"
        data-filter
        size={28}
        aria-label="Thread id, or metadata as key:value"
        placeholder="thread id, or metadata key:value"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
};
