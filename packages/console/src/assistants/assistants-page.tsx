import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { GraphSelect } from '../graph/graph-select.tsx';
import { Loaded, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';

const route = getRouteApi('/assistants');
const pageSize = 50;
const pollMs = 10_000;

type Search = ReturnType<typeof route.useSearch>;

const pageOf = ({ page }: Search): number => Math.max(1, Math.floor(Number(page ?? '1')) || 1);

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
          offset: (pageOf(search) - 1) * pageSize,
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
  const page = pageOf(search);
  const change = (changed: Partial<Search>): void =>
    void navigate({ search: { ...search, page: undefined, ...changed }, replace: true });
  return (
    <div className="page">
      <header className="page-head">
        <h1>Assistants</h1>
      </header>
      <div className="filters" role="search" aria-label="Filter of assistants">
        <GraphSelect graph={search.graph} onChange={(graph) => change({ graph })} />
        <NameField name={search.q} onChange={(q) => change({ q })} />
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
        {(page > 1 || found.data?.length === pageSize) && (
          <div className="load-more">
            <button
              type="button"
              className="button"
              disabled={page <= 1}
              onClick={() => change({ page: page === 2 ? undefined : String(page - 1) })}
            >
              Newer
            </button>
            <span className="muted">page {page}</span>
            <button
              type="button"
              className="button"
              disabled={(found.data?.length ?? 0) < pageSize}
              onClick={() => change({ page: String(page + 1) })}
            >
              Older
            </button>
          </div>
        )}
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

const NameField = ({
  name,
  onChange,
}: {
  name: string | undefined;
  onChange: (name: string | undefined) => void;
}): ReactNode => {
  const [text, setText] = useState(name ?? '');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim() || undefined);
      }}
    >
      <input
        className="field"
        data-filter
        aria-label="Name"
        placeholder="name"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => onChange(text.trim() || undefined)}
      />
    </form>
  );
};
