// Threads by the filter in the address, the newest first.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { metadataProblem, textHint } from '../app/metadata-filter.ts';
import { pageNumber, Pager, pageText } from '../ui/paging.tsx';
import { InvalidFilter, Loaded, State } from '../ui/states.tsx';
import { isFiltered, type ThreadFilter } from './thread-filter.ts';
import { ThreadFilters } from './thread-filters.tsx';
import { useThreads, useThreadTotal } from './thread-queries.ts';
import { ThreadTable } from './thread-table.tsx';

const route = getRouteApi('/threads');

export const ThreadsPage = (): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { page: pageOfAddress, ...filter } = search;
  const page = pageNumber(pageOfAddress);
  const threads = useThreads(filter, page);
  const count = useThreadTotal(filter);
  const problem = metadataProblem(filter.meta ?? '');
  const change = (changed: typeof search): void =>
    void navigate({ search: { ...search, page: undefined, ...changed }, replace: true });
  return (
    <div className="page">
      <header className="page-head">
        <h1>Threads</h1>
        <span className="muted">{problem === undefined && count.data}</span>
        <div className="page-actions">
          <Link to="/playground" className="button">
            New thread in the playground
          </Link>
        </div>
      </header>
      <ThreadFilters filter={filter} onChange={change} />
      <div className="page-body" tabIndex={0} role="region" aria-label="Threads">
        {problem === undefined ? (
          <>
            <Loaded query={threads}>
              {(rows) => (rows.length === 0 ? <NoThreads filter={filter} /> : <ThreadTable threads={rows} />)}
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

const NoThreads = ({ filter }: { filter: ThreadFilter }): ReactNode =>
  isFiltered(filter) ? (
    <State icon="empty" title="No thread matches the filter">
      {textHint(filter.meta) !== undefined && <p className="muted">{textHint(filter.meta)}</p>}
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
