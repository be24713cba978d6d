import type { Assistant, Cron } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useAssistants } from '../api/queries.ts';
import { isId } from '../app/search-text.ts';
import { Button } from '../ui/button.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { ChoiceChips, FilterSelect } from '../ui/filters.tsx';
import { Icon } from '../ui/icons.tsx';
import { pageNumber, Pager, pageText } from '../ui/paging.tsx';
import { Loaded, NoMatch, State } from '../ui/states.tsx';
import { Until } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { type CronFilter, useCrons } from './cron-queries.ts';
import { NewCron } from './new-cron.tsx';
import { CronState, Schedule } from './schedule.tsx';

const route = getRouteApi('/crons');

export const CronsPage = (): ReactNode => {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setCreating] = useState(false);
  const crons = useCrons(filter);
  const assistants = useAssistants();
  const page = pageNumber(filter.page);
  const change = (changed: CronFilter): void =>
    void navigate({ search: { ...filter, page: undefined, ...changed }, replace: true });
  const create = (): void => setCreating(true);
  return (
    <div className="page">
      <header className="page-head">
        <h1>Crons</h1>
        <div className="page-actions">
          <Button onClick={create}>
            <Icon name="plus" size={14} /> New cron…
          </Button>
        </div>
      </header>
      <Filters filter={filter} onChange={change} />
      <div className="page-body" tabIndex={0} role="region" aria-label="Crons">
        <Loaded query={crons}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columnsOf(assistants.data)}
              keyOf={(cron) => cron.cron_id}
              empty={
                <NoCrons
                  isFiltered={Object.values(filter).some((value) => value !== undefined)}
                  onCreate={create}
                />
              }
            />
          )}
        </Loaded>
        <Pager page={page} count={crons.data?.length} onPage={(next) => change({ page: pageText(next) })} />
      </div>
      {isCreating && (
        <NewCron assistant={filter.assistant} thread={filter.thread} onClose={() => setCreating(false)} />
      )}
    </div>
  );
};

const NoCrons = ({ isFiltered, onCreate }: { isFiltered: boolean; onCreate: () => void }): ReactNode =>
  isFiltered ? (
    <NoMatch noun="cron" to="/crons" />
  ) : (
    <State icon="crons" title="There are no crons yet">
      <p className="muted">A cron creates runs on a schedule, on one thread or each run on a new one.</p>
      <Button kind="primary" onClick={onCreate}>
        Create a cron
      </Button>
    </State>
  );

const columnsOf = (assistants: readonly Assistant[] = []): Column<Cron>[] => {
  const names = new Map(assistants.map(({ assistant_id: id, name }) => [id, name]));
  return [
    { name: 'State', cell: (cron) => <CronState cron={cron} /> },
    {
      name: 'Cron',
      cell: ({ cron_id: cronId }) => (
        <Link to="/crons/$cronId" params={{ cronId }} data-row className="mono" aria-label={`Cron ${cronId}`}>
          {cronId.slice(0, 8)}
        </Link>
      ),
    },
    { name: 'Schedule', cell: (cron) => <Schedule schedule={cron.schedule} timezone={cron.timezone} /> },
    {
      name: 'Assistant',
      cell: ({ assistant_id: id }) => visibleText(names.get(id) ?? id.slice(0, 8)),
    },
    {
      name: 'Thread',
      className: 'mono optional',
      cell: ({ thread_id: threadId }) => threadId?.slice(0, 8) ?? 'new one each',
    },
    { name: 'Last error', className: 'wide', cell: (cron) => visibleText(cron.last_error ?? '') },
    {
      name: 'Next run',
      className: 'number',
      cell: ({ enabled, next_run_date: next }) => (enabled && next !== null ? <Until at={next} /> : 'none'),
    },
  ];
};

const Filters = ({
  filter,
  onChange,
}: {
  filter: CronFilter;
  onChange: (changed: CronFilter) => void;
}): ReactNode => {
  const { data: assistants = [] } = useAssistants();
  const [thread, setThread] = useState(filter.thread ?? '');
  return (
    <div className="filters" role="search" aria-label="Filter of crons">
      <ChoiceChips
        label="State"
        choices={[
          ['enabled', 'enabled'],
          ['paused', 'paused'],
        ]}
        chosen={filter.state}
        onChange={(state) => onChange({ state: filter.state === state ? undefined : state })}
      />
      <FilterSelect
        label="Assistant"
        all="All assistants"
        choices={assistants.map(({ assistant_id: id, name }) => [id, name])}
        chosen={filter.assistant}
        onChange={(assistant) => onChange({ assistant })}
      />
      <input
        className="field mono"
        data-filter
        aria-label="Thread id"
        placeholder="thread id"
        aria-invalid={thread !== '' && !isId(thread)}
        value={thread}
        onChange={(event) => {
          const text = event.target.value.trim();
          setThread(text);
          if (text === '' || isId(text)) onChange({ thread: text || undefined });
        }}
      />
    </div>
  );
};
