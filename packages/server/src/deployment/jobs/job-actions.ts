// What a job does with its rows. An action may be repeated: its result is stored later, and its process can be killed in between.
import { RunCreate, type Job, type JobKind, type JobRow } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import { rerunOptions } from '@svc/contract/rerun';
import type { Logger } from 'pino';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import type { ItemOutcome } from '../../storage/deployment/jobs.ts';
import { isOutage } from '../../storage/postgres/sql-state.ts';
import type { Storage } from '../../storage/storage.ts';
import { cancelAccess, type CancelOutcome, type RunCanceller } from '../runs/run-canceller.ts';
import type { RunGranter } from '../runs/run-grant.ts';
import type { RunService } from '../runs/run-service.ts';
import type { PruneService } from '../threads/prune-service.ts';
import { readAccess } from '../threads/read-access.ts';
import type { ThreadService } from '../threads/thread-service.ts';

export interface JobActionParts {
  storage: Pick<Storage, 'runs' | 'threads'>;
  runs: RunService;
  granter: RunGranter;
  canceller: RunCanceller;
  threads: ThreadService;
  pruning: PruneService;
  logger: Logger;
}

/** A job in progress, with the authorizer of its user. */
export interface ActingJob extends Pick<Job, 'job_id' | 'arguments'> {
  authorizer: Authorizer;
}

/** Works on rows of one thread, in their order. */
type Act = (
  parts: JobActionParts,
  job: ActingJob,
  thread_id: string,
  items: readonly JobRow[],
) => Promise<ItemOutcome[]>;

const done: ItemOutcome = { result: 'done', reason: null };
const skipped = (reason: string): ItemOutcome => ({ result: 'skipped', reason });
const failed = (reason: string): ItemOutcome => ({ result: 'failed', reason });

const cancelOutcomes: Record<CancelOutcome['outcome'], ItemOutcome> = {
  cancelled: done,
  stopping: done,
  over: skipped('The run had already ended'),
  not_found: skipped('The run was not found'),
};

const cancelRuns: Act = async ({ canceller }, job, thread_id, items) => {
  const action = job.arguments['action'] === 'rollback' ? 'rollback' : 'interrupt';
  const access = await cancelAccess(job.authorizer, { thread_id }, action);
  const run_ids = items.map(({ run_id }) => run_id ?? '');
  const outcomes = await canceller.cancelEach(thread_id, run_ids, { action, access });
  return outcomes.map(({ outcome }) => cancelOutcomes[outcome]);
};

const retryRun = async (
  { storage, runs, granter }: JobActionParts,
  { job_id, authorizer }: ActingJob,
  thread_id: string,
  run_id: string,
): Promise<ItemOutcome> => {
  const access = await readAccess(authorizer, { thread_id, run_id });
  const run = await storage.runs.find(run_id, thread_id, access);
  if (!run) return skipped('The run was not found');
  const options = rerunOptions({ kwargs: JSON.parse(run.kwargs) as object });
  const body = RunCreate.parse({ ...options, assistant_id: run.assistant_id });
  // The key makes the repetition of a retry find the run that it has created.
  const { release } = await runs.create(
    thread_id,
    await granter.grant(authorizer, thread_id, body, `${job_id}:${run_id}`),
  );
  release();
  return done;
};

const ofThread =
  (act: (parts: JobActionParts, job: ActingJob, item: JobRow) => Promise<ItemOutcome>): Act =>
  (parts, job, _, items) =>
    inTurn(items, (item) => act(parts, job, item), parts.logger);

const deleteThread = async (
  { storage, threads }: JobActionParts,
  { authorizer }: ActingJob,
  { thread_id, status }: JobRow,
): Promise<ItemOutcome> => {
  const { access } = await authorizer.authorize('threads:delete', { thread_id, run_id: undefined });
  const thread = await storage.threads.find(thread_id, access);
  if (!thread) return skipped('The thread was not found');
  if (thread.status === 'busy' && status !== 'busy') return skipped('The thread has a new run');
  await threads.delete(thread_id, access);
  return done;
};

const pruneThread = async (
  { pruning }: JobActionParts,
  { authorizer }: ActingJob,
  { thread_id }: JobRow,
): Promise<ItemOutcome> => {
  const update = { thread_id, metadata: undefined, action: undefined };
  const { access } = await authorizer.authorize('threads:update', update);
  const count = await pruning.prune(new Map([[thread_id, access]]), 'keep_latest');
  return count > 0 ? done : skipped('The thread was not found, or has a pending or running run');
};

const actions: Record<JobKind, Act> = {
  cancel_runs: cancelRuns,
  retry_runs: ofThread((parts, job, { thread_id, run_id }) => retryRun(parts, job, thread_id, run_id ?? '')),
  delete_threads: ofThread(deleteThread),
  prune_threads: ofThread(pruneThread),
};

/** Works on rows of one thread. Rejects only during an outage of the database: then the rows are worked on again. */
export const act = async (
  parts: JobActionParts,
  job: ActingJob & Pick<Job, 'kind'>,
  items: readonly JobRow[],
): Promise<ItemOutcome[]> => {
  const [first] = items;
  if (!first) return [];
  try {
    return await actions[job.kind](parts, job, first.thread_id, items);
  } catch (error) {
    const outcome = outcomeOf(error, parts.logger);
    return items.map(() => outcome);
  }
};

const inTurn = async (
  items: readonly JobRow[],
  work: (item: JobRow) => Promise<ItemOutcome>,
  logger: Logger,
): Promise<ItemOutcome[]> => {
  const outcomes: ItemOutcome[] = [];
  for (const item of items)
    outcomes.push(await work(item).catch((error: unknown) => outcomeOf(error, logger)));
  return outcomes;
};

/** The message of a Problem is for clients; other errors are logged only. */
const outcomeOf = (error: unknown, logger: Logger): ItemOutcome => {
  if (isOutage(error)) throw error;
  if (!(error instanceof Problem)) {
    logger.error({ err: error }, 'failed to work on a row of a job');
    return failed('Internal error');
  }
  const reason = error.message.slice(0, reasonMax);
  return error.code === 'not_found' ? skipped(reason) : failed(reason);
};

const reasonMax = 1_000;
