// Puts a changed run into what queries have read: lists and details have the same state of it.
import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Run, RunSummary } from '@svc/sdk';

interface RunPage {
  runs: Run[];
}

type RunList = Run[] | InfiniteData<RunPage>;

/** The later one of two states of a run. A list that was read before may be answered after the change. */
const newer = (read: Run, changed: RunSummary): Run =>
  changed.updated_at < read.updated_at ||
  (changed.updated_at === read.updated_at &&
    changed.attempt <= read.attempt &&
    changed.status === read.status)
    ? read
    : merged(read, changed);

const merged = (read: Run, changed: RunSummary): Run => {
  const run = { ...read, ...changed };
  // Why a run is pending is read with a single run only.
  delete run.waiting_for;
  return run;
};

const isPaged = (list: RunList): list is InfiniteData<RunPage> => !Array.isArray(list);

/** Keeps the order of the rows. Returns the same list when nothing of it has changed. */
export const patchList = (list: RunList, changed: RunSummary): RunList => {
  if (isPaged(list)) {
    const pages = list.pages.map((page) => {
      const runs = patchRows(page.runs, changed);
      return runs === page.runs ? page : { ...page, runs };
    });
    return pages.every((page, at) => page === list.pages[at]) ? list : { ...list, pages };
  }
  return patchRows(list, changed);
};

const patchRows = (rows: Run[], changed: RunSummary): Run[] => {
  const at = rows.findIndex(({ run_id: id }) => id === changed.run_id);
  const row = rows[at];
  const patched = row && newer(row, changed);
  return patched === undefined || patched === row ? rows : rows.with(at, patched);
};

const rowsOf = (list: RunList): Run[] => (isPaged(list) ? list.pages.flatMap(({ runs }) => runs) : list);

/** What the query of a list says about runs that are not in it. */
export interface ListMeta extends Record<string, unknown> {
  /** False for a run that the filter leaves out. */
  canContain?: (run: RunSummary) => boolean;
  /** True while the list must not be read again. */
  isHeld?: () => boolean;
  /** Called with a run that was created after all runs of the list, while the list is held. */
  onNew?: (run: RunSummary) => void;
}

/** Patches the run everywhere. Returns the keys of lists that must be read again, because the run comes into them or leaves them. */
export const patchRun = (queries: QueryClient, changed: RunSummary): (readonly unknown[])[] => {
  queries.setQueryData<Run>(['run', changed.thread_id, changed.run_id], (run) => run && newer(run, changed));
  const incomplete: (readonly unknown[])[] = [];
  for (const query of queries.getQueryCache().findAll({ queryKey: ['runs'] })) {
    const { queryKey, meta, state } = query;
    const list = state.data as RunList | undefined;
    const { canContain, isHeld, onNew } = (meta ?? {}) as ListMeta;
    if (list === undefined) {
      incomplete.push(queryKey);
      continue;
    }
    const patched = patchList(list, changed);
    if (patched !== list) queries.setQueryData<RunList>(queryKey, patched);
    const rows = rowsOf(patched);
    const row = rows.find(({ run_id: id }) => id === changed.run_id);
    // A row may be newer than the change.
    if ((canContain?.(row ?? changed) ?? true) === (row !== undefined)) continue;
    if (isHeld?.() !== true) incomplete.push(queryKey);
    else if (!row && rows.every(({ created_at: createdAt }) => createdAt < changed.created_at))
      onNew?.(changed);
  }
  return incomplete;
};
