import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { GraphSelect } from '../graph/graph-select.tsx';
import { FilterField } from '../ui/filter-field.tsx';
import { pageNumber, Pager, pageSize, pageText } from '../ui/paging.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';

const route = getRouteApi('/assistants');
const pollMs = 10_000;

type Search = ReturnType<typeof route.useSearch>;

/** The newest change first. */
const useFound = (search: Search): UseQueryResult<Assistant[]> => {
  const client = useClient();
  return useQuery({
    queryKey: ['assistants', 'found', search],
    queryFn: ({ signal }) =>
      client.assistants.search(
        {
          graph_id: search.graph,
          name: search.q,
          sort_by: 'updated_at',
          sort_order: 'desc',
          limit: pageSize,
          offset: (pageNumber(search.page) - 1) * pageSize,
        },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollMs,
  });
};

export const AssistantsPage = (): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const found = useFound(search);
  const page = pageNumber(search.page);
  const change = (changed: Partial<Search>): void =>
    void navigate({ search: { ...search, page: undefined, ...changed }, replace: true });
  return (
    <div className="page">
      <header className="page-head">
        <h1>Assistants</h1>
      </header>
      <div className="filters" role="search" aria-label="Filter of assistants">
        <GraphSelect graph={search.graph} onChange={(graph) => change({ graph })} />
        <FilterField
          data-filter
          aria-label="Name"
          placeholder="name"
          text={search.q}
          onChange={(q) => change({ q })}
        />
      </div>
      <div className="page-body" tabIndex={0} role="region" aria-label="Assistants">
        <Loaded query={found}>
          {(rows) =>
            rows.length === 0 ? (
              <NoAssistants isFiltered={search.graph !== undefined || search.q !== undefined || page > 1} />
            ) : (
              <AssistantTable assistants={rows} />
            )
          }
        </Loaded>
        <Pager page={page} count={found.data?.length} onPage={(next) => change({ page: pageText(next) })} />
      </div>
    </div>
  );
};

const NoAssistants = ({ isFiltered }: { isFiltered: boolean }): ReactNode =>
  isFiltered ? (
    <State icon="empty" title="No assistant matches the filter">
      <Link to="/assistants" className="button">
        Clear the filter
      </Link>
    </State>
  ) : (
    <State icon="assistants" title="There are no assistants">
      <p className="muted">
        An assistant is a graph with a configuration. Each graph of <code>svc.json</code> has one with its
        name.
      </p>
    </State>
  );

const AssistantTable = ({ assistants }: { assistants: readonly Assistant[] }): ReactNode => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Graph</th>
        <th scope="col" className="number">
          Version
        </th>
        <th scope="col" className="optional">
          Description
        </th>
        <th scope="col" className="number">
          Updated
        </th>
      </tr>
    </thead>
    <tbody>
      {assistants.map((assistant) => (
        <AssistantRow key={assistant.assistant_id} assistant={assistant} />
      ))}
    </tbody>
  </table>
);

const AssistantRow = ({ assistant }: { assistant: Assistant }): ReactNode => {
  const navigate = useNavigate();
  const { assistant_id: assistantId, name, graph_id: graph } = assistant;
  const target = { to: '/assistants/$assistantId', params: { assistantId } } as const;
  return (
    <tr onClick={() => void navigate(target)}>
      <td>
        <Link {...target} data-row>
          {visibleText(name)}
        </Link>
      </td>
      <td>{visibleText(graph)}</td>
      <td className="number">{assistant.version}</td>
      <td className="wide optional">{visibleText(assistant.description ?? '')}</td>
      <td className="number">
        <Ago at={assistant.updated_at} />
      </td>
    </tr>
  );
};
