// Runs of all threads, newest first. The filter is the query string.
import type { Run } from '@svc/sdk';
import { type InfiniteData, keepPreviousData, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, type RefObject, useCallback, useRef, useState } from 'react';
import { useClient } from '../api/client.tsx';
import { usePagedQuery } from '../api/paged-query.ts';
import { runStatuses, runStatusNames } from '../api/statuses.ts';
import { downloadPage } from '../app/download.ts';
import { useListSettings } from '../app/list-settings.ts';
import { ListTools } from '../app/list-tools.tsx';
import { metadataProblem, textHint } from '../app/metadata-filter.ts';
import { GraphSelect } from '../graph/graph-select.tsx';
import { JobActions } from '../jobs/job-actions.tsx';
import { JobPanel } from '../jobs/job-panel.tsx';
import { useWatchedJob } from '../jobs/job-queries.ts';
import { isLong, usePollMs } from '../live/live-runs.tsx';
import { rangeText } from '../plots/bucket-text.ts';
import { TimeSelect } from '../plots/time-select.tsx';
import { Button } from '../ui/button.tsx';
import { FilterField, FilterSelect, StatusChips } from '../ui/filters.tsx';
import { LoadedPages } from '../ui/paging.tsx';
import { InvalidFilter, NoMatch, State } from '../ui/states.tsx';
import { countMax, newestOf, useNewRunCount } from './new-runs.ts';
import {
  conditionsOf,
  isFiltered,
  problemOf,
  type RunFilter,
  threadProblem,
  toRequest,
} from './run-filter.ts';
import { type RowSelection, runColumns, RunTable } from './run-table.tsx';

const route = getRouteApi('/runs');
const pollMs = 4_000;
/** Pixels below the beginning of the list from which on it is not moved. */
const topPx = 40;

const jobKinds = ['cancel_runs', 'retry_runs'] as const;

const nothing: ReadonlySet<string> = new Set();

type Pages = InfiniteData<{ runs: Run[] }>;

/** `isScrolled`: the list does not move while somebody reads older runs, so new runs are left out. */
const useRuns = (filter: RunFilter, isScrolled: RefObject<boolean>) => {
  const client = useClient();
  const queries = useQueryClient();
  const everyMs = usePollMs(pollMs);
  const queryKey = ['runs', filter];
  return usePagedQuery({
    queryKey,
    read: (cursor, call) => {
      const request = toRequest(filter, Date.now());
      const shown = isScrolled.current ? queries.getQueryData<Pages>(queryKey) : undefined;
      const newest =
        shown &&
        newestOf(
          shown.pages.flatMap(({ runs }) => runs),
          filter,
        );
      const before = [newest, request.created_before].filter((time) => time !== undefined).toSorted()[0];
      return client.runs.searchPage({ ...request, created_before: before, cursor }, call);
    },
    next: ({ next }) => next,
    enabled: problemOf(filter) === undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (isLong(state.data) ? false : everyMs),
  });
};

export const RunsPage = (): ReactNode => {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const isScrolled = useRef(false);
  const [isHeld, setHeld] = useState(false);
  const query = useRuns(filter, isScrolled);
  const body = useRef<HTMLDivElement>(null);
  const { refetch } = query;
  const noteScrolled = useCallback((changed: boolean) => {
    isScrolled.current = changed;
    setHeld(changed);
  }, []);
  const show = useCallback(() => {
    noteScrolled(false);
    void refetch();
  }, [noteScrolled, refetch]);
  const [ids, setIds] = useState(nothing);
  const problem = problemOf(filter);
  const watched = useWatchedJob(jobKinds);
  const { isEdited, noteEditing } = useEditing();
  const runs = problem === undefined ? query.data?.pages.flatMap((page) => page.runs) : undefined;
  const mayLack = !query.isPlaceholderData && (isHeld || isLong(query.data));
  const count = useNewRunCount(filter, mayLack && runs ? newestOf(runs, filter) : undefined);
  const change = (changed: RunFilter): void =>
    void navigate({ search: { ...filter, rejected: undefined, ...changed }, replace: true });
  return (
    <div className="page">
      <header className="page-head">
        <h1>Runs</h1>
        <JobActions
          kinds={jobKinds}
          isHidden={problem === undefined && (runs ?? []).length === 0}
          isFiltered={isFiltered(filter)}
          filterOf={() => conditionsOf(filter, Date.now())}
          watched={watched}
          problem={problem ?? (isEdited ? 'The filter is being edited. Press Enter to apply it.' : undefined)}
          // Runs that have left the list since they were chosen are no part of the action.
          selected={(runs ?? []).map(({ run_id: id }) => id).filter((id) => ids.has(id))}
          onStart={() => setIds(nothing)}
        >
          <RunListTools filter={filter} isValid={problem === undefined} />
        </JobActions>
      </header>
      <Filters filter={filter} onChange={change} onEditing={noteEditing} />
      <JobPanel {...watched} />
      <div
        ref={body}
        className="page-body"
        tabIndex={0}
        role="region"
        aria-label="Runs"
        onScroll={({ currentTarget }) => {
          const isBelow = currentTarget.scrollTop > topPx;
          if (isBelow) noteScrolled(true);
          else if (isScrolled.current) show();
        }}
      >
        <NewRunsBar
          count={count}
          onShow={() => {
            body.current?.scrollTo({ top: 0 });
            show();
          }}
        />
        {problem === undefined ? (
          <RunList filter={filter} query={query} selection={{ ids, onChange: setIds }} />
        ) : (
          <InvalidFilter problem={problem}>
            <Link to="/runs" className="button">
              Clear the filter
            </Link>
          </InvalidFilter>
        )}
      </div>
    </div>
  );
};

/** Fields of the filter with a text that is not applied yet. */
const useEditing = (): { isEdited: boolean; noteEditing: (field: string, isEditing: boolean) => void } => {
  const [edited, setEdited] = useState(nothing);
  const noteEditing = useCallback(
    (field: string, isEditing: boolean) =>
      setEdited(
        (before) => new Set([...[...before].filter((name) => name !== field), ...(isEditing ? [field] : [])]),
      ),
    [],
  );
  return { isEdited: edited.size > 0, noteEditing };
};

const NewRunsBar = ({ count, onShow }: { count: number; onShow: () => void }): ReactNode =>
  count > 0 && (
    <div className="new-rows" role="status">
      <Button kind="primary" onClick={onShow}>
        {count === 1 ? '1 new run' : `${count}${count < countMax ? '' : ' or more'} new runs`}
      </Button>
    </div>
  );

interface RunListProps {
  filter: RunFilter;
  query: ReturnType<typeof useRuns>;
  selection: RowSelection;
}

const RunListTools = ({ filter, isValid }: { filter: RunFilter; isValid: boolean }): ReactNode => {
  const client = useClient();
  const settings = useListSettings('runs');
  const body = isValid ? toRequest(filter, Date.now()) : undefined;
  return (
    <ListTools
      list="runs"
      settings={settings}
      columns={runColumns(new Map())}
      request={
        body && {
          call: { method: 'POST', path: '/runs/search', body },
          read: async (cursor, signal) => {
            const page = await client.runs.searchPage({ ...body, limit: downloadPage, cursor }, { signal });
            return { rows: page.runs, next: page.next };
          },
        }
      }
    />
  );
};

const RunList = ({ filter, query, selection }: RunListProps): ReactNode => {
  const { toggled } = useListSettings('runs');
  return (
    <LoadedPages
      query={query}
      rowsOf={({ runs }) => runs}
      empty={<NoRuns filter={filter} />}
      more="Load older runs"
    >
      {(runs) => <RunTable runs={runs} toggled={toggled} selection={selection} />}
    </LoadedPages>
  );
};

const NoRuns = ({ filter }: { filter: RunFilter }): ReactNode =>
  isFiltered(filter) ? (
    <NoMatch noun="run" to="/runs">
      {textHint(filter.meta) !== undefined && <p className="muted">{textHint(filter.meta)}</p>}
    </NoMatch>
  ) : (
    <State icon="empty" title="There are no runs yet">
      <p className="muted">A run is one execution of an assistant. Start one in the playground.</p>
      <Link to="/playground" className="button" data-kind="primary">
        Open the playground
      </Link>
    </State>
  );

const Filters = ({
  filter,
  onChange,
  onEditing,
}: {
  filter: RunFilter;
  onChange: (changed: RunFilter) => void;
  /** Called with a field and whether it has a text that is not applied yet. */
  onEditing: (field: string, isEditing: boolean) => void;
}): ReactNode => {
  const onThread = useCallback((isEditing: boolean) => onEditing('thread', isEditing), [onEditing]);
  const onMeta = useCallback((isEditing: boolean) => onEditing('meta', isEditing), [onEditing]);
  const { status, graph, thread, meta } = filter;
  return (
    <div className="filters" role="search" aria-label="Filter of runs">
      <StatusChips
        statuses={runStatuses}
        names={runStatusNames}
        chosen={status}
        onChange={(chosen) => onChange({ status: chosen })}
      />
      <GraphSelect graph={graph} onChange={(changed) => onChange({ graph: changed })} />
      <TimeSelect label="Created" time={filter} onChange={onChange} />
      <EndedSelect filter={filter} onChange={onChange} />
      <FilterField
        className="field mono"
        data-filter
        aria-label="Thread id"
        placeholder="thread id"
        text={thread}
        problemOf={threadProblem}
        onChange={(changed) => onChange({ thread: changed })}
        onEditing={onThread}
      />
      <FilterField
        aria-label="Metadata"
        placeholder="metadata key:value"
        text={meta}
        problemOf={metadataProblem}
        onChange={(changed) => onChange({ meta: changed })}
        onEditing={onMeta}
      />
    </div>
  );
};

/** The range of the address is removed by the other option. */
const EndedSelect = ({
  filter: { ended_from: from, ended_to: to },
  onChange,
}: {
  filter: RunFilter;
  onChange: (changed: RunFilter) => void;
}): ReactNode => {
  const range = rangeText(from, to);
  if (range === undefined) return null;
  return (
    <FilterSelect
      label="Ended"
      choices={[
        ['range', `Ended ${range}`],
        ['', 'Ended at any time'],
      ]}
      chosen="range"
      onChange={() => onChange({ ended_from: undefined, ended_to: undefined })}
    />
  );
};
