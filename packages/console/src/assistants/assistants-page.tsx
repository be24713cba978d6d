import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Assistant } from '@svc/sdk';
import { type ReactNode, useState } from 'react';
import { useClient, useServerQuery } from '../api/client.tsx';
import { readByOffset } from '../app/download.ts';
import { shownColumns, useListSettings } from '../app/list-settings.ts';
import { ListTools } from '../app/list-tools.tsx';
import { GraphSelect } from '../graph/graph-select.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { FilterField } from '../ui/filters.tsx';
import { pageNumber, Pager, pageSize, pageText } from '../ui/paging.tsx';
import { Loaded, NoMatch, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { MetadataChips } from '../values/metadata-chips.tsx';
import { NewAssistant } from './assistant-form.tsx';

const route = getRouteApi('/assistants');
const pollMs = 10_000;

type Search = ReturnType<typeof route.useSearch>;

/** The newest change first. */
const conditionsOf = ({ graph, q }: Search) => ({
  ...(graph !== undefined && { graph_id: graph }),
  ...(q !== undefined && { name: q }),
  sort_by: 'updated_at' as const,
  sort_order: 'desc' as const,
});

const useFound = (search: Search): UseQueryResult<Assistant[]> =>
  useServerQuery({
    queryKey: ['assistants', 'found', search],
    read: (client, call) =>
      client.assistants.search(
        {
          ...conditionsOf(search),
          limit: pageSize,
          offset: (pageNumber(search.page) - 1) * pageSize,
        },
        call,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollMs,
  });

export const AssistantsPage = (): ReactNode => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const found = useFound(search);
  const { toggled } = useListSettings('assistants');
  const page = pageNumber(search.page);
  const [isCreating, setCreating] = useState(false);
  const change = (changed: Partial<Search>): void =>
    void navigate({ search: { ...search, page: undefined, ...changed }, replace: true });
  return (
    <div className="page">
      <header className="page-head">
        <h1>Assistants</h1>
        <div className="page-actions">
          <AssistantListTools search={search} />
          <Button kind="primary" onClick={() => setCreating(true)}>
            New assistant
          </Button>
        </div>
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
          {(rows) => (
            <DataTable
              rows={rows}
              columns={shownColumns(columns, toggled)}
              keyOf={(assistant) => assistant.assistant_id}
              empty={
                <NoAssistants isFiltered={search.graph !== undefined || search.q !== undefined || page > 1} />
              }
            />
          )}
        </Loaded>
        <Pager page={page} count={found.data?.length} onPage={(next) => change({ page: pageText(next) })} />
      </div>
      {isCreating && <NewAssistant graph={search.graph} onClose={() => setCreating(false)} />}
    </div>
  );
};

const AssistantListTools = ({ search }: { search: Search }): ReactNode => {
  const client = useClient();
  const settings = useListSettings('assistants');
  const body = { ...conditionsOf(search), limit: pageSize };
  return (
    <ListTools
      list="assistants"
      settings={settings}
      columns={columns}
      request={{
        call: {
          method: 'POST',
          path: '/assistants/search',
          body,
          sdk: { name: 'assistants.search', args: [], options: body },
        },
        read: readByOffset((page, signal) => client.assistants.search({ ...body, ...page }, { signal })),
      }}
    />
  );
};

const NoAssistants = ({ isFiltered }: { isFiltered: boolean }): ReactNode =>
  isFiltered ? (
    <NoMatch noun="assistant" to="/assistants" />
  ) : (
    <State icon="assistants" title="There are no assistants">
      <p className="muted">
        An assistant is a graph with a configuration. Each graph of <code>svc.json</code> has one with its
        name.
      </p>
    </State>
  );

const columns: readonly Column<Assistant>[] = [
  {
    name: 'Name',
    isFixed: true,
    cell: ({ assistant_id: assistantId, name }) => (
      <Link to="/assistants/$assistantId" params={{ assistantId }} data-row>
        {visibleText(name)}
      </Link>
    ),
  },
  { name: 'Graph', cell: (assistant) => visibleText(assistant.graph_id) },
  { name: 'Version', className: 'number', cell: ({ version }) => version },
  {
    name: 'Description',
    className: 'wide optional',
    cell: ({ description }) => visibleText(description ?? ''),
  },
  { name: 'Metadata', isExtra: true, cell: ({ metadata }) => <MetadataChips metadata={metadata} max={4} /> },
  { name: 'Updated', className: 'number', cell: (assistant) => <Ago at={assistant.updated_at} /> },
];
