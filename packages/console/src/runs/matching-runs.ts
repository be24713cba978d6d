// Reads the runs that a bulk action is for, page by page, newest first. Runs that are created meanwhile are newer than every page that is
// read later, so an action never reaches the runs that it creates.
import type { Client, Run } from '@svc/sdk';
import { statusesFor, type BulkAction } from './bulk-action.ts';
import { conditionsOf, type RunFilter } from './run-filter.ts';

/** What a bulk action needs to know of a run. */
export type BulkRun = Pick<Run, 'run_id' | 'thread_id' | 'assistant_id' | 'status' | 'created_at'>;

export interface MatchingPage {
  runs: BulkRun[];
  /** The cursor of the next page; undefined when no run is left. */
  next: string | undefined;
}

/** All runs that match a filter, or single ones that a person has chosen. */
export type BulkSelection =
  | { kind: 'filter'; filter: RunFilter }
  | { kind: 'rows'; runs: readonly BulkRun[] };

export type ReadMatching = (cursor?: string, options?: { signal?: AbortSignal }) => Promise<MatchingPage>;

/** The most runs of a page, as the API allows. A preview counts no further. */
export const matchingMax = 1_000;
/** The server ends a page early after many runs that do not match. A page is read with no more requests than this. */
const searchesMax = 20;

const select = [
  'run_id',
  'thread_id',
  'assistant_id',
  'status',
  'created_at',
] as const satisfies (keyof BulkRun)[];

/** `nowMs`: the time from which a relative filter counts, for all pages. */
export const readerOf = (
  client: { runs: Pick<Client['runs'], 'searchPage'> },
  action: BulkAction,
  selection: BulkSelection,
  nowMs: number,
): ReadMatching => {
  if (selection.kind === 'rows') {
    const allowed = statusesFor(action, undefined);
    const runs = selection.runs.filter(({ status }) => allowed.includes(status));
    return () => Promise.resolve({ runs, next: undefined });
  }
  const { filter } = selection;
  const status = statusesFor(action, filter.status);
  if (status.length === 0) return () => Promise.resolve({ runs: [], next: undefined });
  const request = {
    ...conditionsOf(filter, nowMs),
    status,
    select: [...select],
    sort_order: 'desc' as const,
  };
  return async (cursor, options) => {
    const runs: BulkRun[] = [];
    let next = cursor;
    for (let search = 0; search < searchesMax; search++) {
      const limit = matchingMax - runs.length;
      const page = await client.runs.searchPage(
        { ...request, limit, ...(next === undefined ? {} : { cursor: next }) },
        options,
      );
      runs.push(...page.runs);
      next = page.next;
      if (next === undefined || runs.length >= matchingMax) break;
    }
    return { runs, next };
  };
};
