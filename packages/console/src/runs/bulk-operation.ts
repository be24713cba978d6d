// What a bulk action does to the runs of one thread, by routes for single threads and runs.
import { ApiError, type Client, type RunOptions } from '@svc/sdk';
import { sentencesOf } from '../ui/error-sentences.ts';
import type { BulkAction } from './bulk-action.ts';
import type { BulkRun } from './matching-runs.ts';
import { rerunOptions } from './rerun.ts';

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
