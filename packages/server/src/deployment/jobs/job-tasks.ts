// Works on jobs in a periodic task, so one process at a time does. A group of rows is done before the next job has its turn. When the process
// is killed, another one claims the task, and repeats the rows that have no stored result.
import type { Job, JobRow } from '@svc/contract';
import type { Logger } from 'pino';
import { type Authorizer, unrestrictedAuthorizer } from '../../auth/authorization/authorizer.ts';
import type { RunUsers } from '../../auth/sealed-users/run-users.ts';
import type { User } from '../../auth/principal/caller.ts';
import type { PeriodicTask } from '../../jobs/periodic-tasks.ts';
import type { ClaimedJob, ItemOutcome, JobStorage } from '../../storage/deployment/jobs.ts';
import { act, type ActingJob, type JobActionParts } from './job-actions.ts';
import { userOfOwner } from './job-owner.ts';

/** Rows that are worked on before their results are stored, and threads among them that are worked on at the same time. */
const groupMax = 100;
const atOnce = 4;
const expiredMax = 5_000;

/** The name of the task. A process without custom authentication cannot act as a user, and one with it acts for users only. */
export const jobTaskName = (hasUsers: boolean): string =>
  hasUsers ? 'work on jobs of users' : 'work on jobs';

export interface JobTaskParts {
  jobs: JobStorage;
  actions: JobActionParts;
  users: RunUsers;
  /** Undefined without custom authentication. */
  authorizerFor: ((user: User) => Authorizer) | undefined;
  logger: Logger;
}

export const jobTasks = (parts: JobTaskParts): PeriodicTask[] => [
  {
    name: jobTaskName(parts.authorizerFor !== undefined),
    everyMs: 5_000,
    work: (signal) => workOnOne(parts, signal),
  },
  {
    name: 'forget jobs',
    everyMs: 60_000,
    batch: expiredMax,
    work: () => parts.jobs.deleteExpired(expiredMax),
  },
];

/** Returns 0 when no job is in progress. */
const workOnOne = async (parts: JobTaskParts, signal: AbortSignal): Promise<number> => {
  const { jobs, logger } = parts;
  const job = await jobs.claim(parts.authorizerFor !== undefined);
  if (!job) return 0;
  let authorizer: Authorizer;
  try {
    authorizer = authorizerOf(job, parts);
  } catch (error) {
    logger.error({ err: error, job_id: job.job_id }, 'a job cannot act as its user and has ended');
    await jobs.fail(
      job.job_id,
      'The server cannot decrypt the user of the job: its encryption key has changed',
    );
    return 1;
  }
  const items =
    job.state === 'cancelling'
      ? []
      : await jobs.listItems(job.job_id, { after: job.processed, limit: groupMax });
  const outcomes = await workOn(parts, { ...job, authorizer }, items, signal);
  await jobs.record(job, outcomes);
  return 1;
};

const authorizerOf = (job: ClaimedJob, { authorizerFor, users }: JobTaskParts): Authorizer =>
  job.sealed_user === null || authorizerFor === undefined
    ? unrestrictedAuthorizer
    : authorizerFor(users.userOf(job.sealed_user, userOfOwner(job.owner)));

/** The outcomes of the rows, in their order; of the first ones only when the signal is aborted. */
const workOn = async (
  { actions }: JobTaskParts,
  job: ActingJob & Pick<Job, 'kind'>,
  items: readonly JobRow[],
  signal: AbortSignal,
): Promise<ItemOutcome[]> => {
  const outcomes = new Map<number, ItemOutcome>();
  const threads = byThread(items).values();
  let hasFailed = false;
  const work = async (): Promise<void> => {
    // The workers share one iterator: each takes the next thread.
    for (const ofThread of threads) {
      if (signal.aborted || hasFailed) return;
      const results = await act(actions, job, ofThread);
      for (const [at, outcome] of results.entries()) outcomes.set(ofThread[at]?.position ?? 0, outcome);
    }
  };
  const fail = (error: unknown): never => {
    hasFailed = true;
    throw error;
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, () => work().catch(fail)));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  const known = items.map(({ position }) => outcomes.get(position));
  const end = known.indexOf(undefined);
  return known.slice(0, end === -1 ? undefined : end).filter((outcome) => outcome !== undefined);
};

const byThread = (items: readonly JobRow[]): Map<string, JobRow[]> => {
  const threads = new Map<string, JobRow[]>();
  for (const item of items) threads.set(item.thread_id, [...(threads.get(item.thread_id) ?? []), item]);
  return threads;
};
