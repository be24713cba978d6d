// Bulk actions: the runs that an action is for, and the requests that it sends for the runs of one thread.
import { ApiError, type Client, type Run, type RunOptions } from '@svc/sdk';
import type { RunStatus } from '../api/statuses.ts';
import { sentencesOf } from '../ui/faults.ts';
import { rerunOptions } from './rerun.ts';
import { conditionsOf, type RunFilter } from './run-filter.ts';

/** `reason`: why the action has failed for the run; absent when it has succeeded. */
export type Report = (run: BulkRun, reason?: string) => void;

/** Reports each run of a thread once, except those that are left when it is stopped. */
export type BulkOperation = (
  runs: readonly BulkRun[],
  report: Report,
  isStopped: () => boolean,
) => Promise<void>;

export interface BulkClient {
  runs: Pick<Client['runs'], 'cancelMany' | 'create' | 'get' | 'searchPage'>;
}

/** `jobId`: makes the idempotency keys of a job its own. `pauseMs`: before a request is sent again. */
export const operationOf = (
  client: BulkClient,
  action: BulkAction,
  { jobId, pauseMs = 1_000 }: { jobId: string; pauseMs?: number },
): BulkOperation => (action === 'cancel' ? cancelOf(client, pauseMs) : retryOf(client, { jobId, pauseMs }));

const cancelReasons = {
  over: 'The run had already ended.',
  not_found: 'The run was not found on its thread.',
} as const;

type Refused = keyof typeof cancelReasons;

const cancelOf =
  (client: BulkClient, pauseMs: number): BulkOperation =>
  async (runs, report) => {
    const [{ thread_id: threadId } = { thread_id: '' }] = runs;
    const runIds = runs.map(({ run_id }) => run_id);
    let refusals: Map<string, string>;
    try {
      const cancelled = await repeated(() => client.runs.cancelMany({ threadId, runIds }), pauseMs);
      refusals = new Map(
        (cancelled?.runs ?? []).flatMap(({ run_id, outcome }) =>
          outcome in cancelReasons ? [[run_id, cancelReasons[outcome as Refused]] as const] : [],
        ),
      );
    } catch (error) {
      refusals = new Map(runIds.map((id, at) => [id, refusalAt(error as Error, at)]));
    }
    for (const run of runs) report(run, refusals.get(run.run_id));
  };

/** When no run of the request is in flight, the response is an error with a fault for each run. */
const refusalAt = (error: Error, at: number): string => {
  const faults = error instanceof ApiError && typeof error.detail !== 'string' ? error.detail : [];
  const type = faults.find(({ loc }) => loc.at(-1) === at)?.type;
  return type !== undefined && type in cancelReasons ? cancelReasons[type as Refused] : reasonOf(error);
};

/** One run after the other, the oldest first: a thread executes its runs in the order of their creation. */
const retryOf =
  (client: BulkClient, { jobId, pauseMs }: { jobId: string; pauseMs: number }): BulkOperation =>
  async (runs, report, isStopped) => {
    const oldestFirst = runs.toSorted((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
    for (const run of oldestFirst) {
      if (isStopped()) return;
      try {
        await repeated(() => retry(client, run, `${jobId}:${run.run_id}`), pauseMs);
        report(run);
      } catch (error) {
        report(run, reasonOf(error as Error));
      }
    }
  };

const retry = async (client: BulkClient, run: BulkRun, idempotencyKey: string): Promise<void> => {
  const whole = await client.runs.get(run.thread_id, run.run_id);
  const options = rerunOptions(whole) as RunOptions;
  await client.runs.create(run.thread_id, run.assistant_id, options, { idempotencyKey });
};

const reasonOf = (error: Error): string => sentencesOf(error).join(' ');

const triesMax = 5;

/** Sends a request again, with longer and longer pauses, while the server asks for that: a job exceeds the rate limit easily. */
const repeated = async <T>(request: () => Promise<T>, pauseMs: number): Promise<T> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ApiError && error.retryable) || attempt >= triesMax - 1) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * 2 ** attempt));
    }
  }
};

// What can be done to many runs at once.
export type BulkAction = 'cancel' | 'retry';

/** A cancelled run is not retried: somebody wanted it to end. */
const statuses = {
  cancel: ['pending', 'running'],
  retry: ['error', 'timeout'],
} as const satisfies Record<BulkAction, readonly RunStatus[]>;

/** The statuses that both the action and the filter allow; a filter without statuses allows all. */
const statusesFor = (action: BulkAction, filtered: readonly RunStatus[] | undefined): RunStatus[] =>
  statuses[action].filter((status) => filtered?.includes(status) ?? true);

export const actionNames: Record<BulkAction, string> = { cancel: 'Cancel', retry: 'Retry' };

// A bulk action reads its runs page by page, newest first. New runs are newer than all pages that are still to be read, so an action does not
// apply to runs that it creates itself.

/** What a bulk action needs to know of a run. */
export type BulkRun = Pick<Run, 'run_id' | 'thread_id' | 'assistant_id' | 'status' | 'created_at'>;

export interface MatchingPage {
  runs: BulkRun[];
  /** The cursor of the next page; undefined when no run is left. */
  next: string | undefined;
}

/** All runs that match a filter, or the rows that a person has selected. */
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
