// Jobs: previews, their start and their cancellation. job-tasks.ts works on them.
import {
  type Job,
  type JobCreate,
  type JobKind,
  type JobRow,
  jobRowsMax,
  RunJobFilter,
  ThreadJobFilter,
} from '@svc/contract';
import { invalid, notFound, Problem } from '@svc/contract/problem';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import type { RunUsers } from '../../auth/sealed-users/run-users.ts';
import type { User } from '../../auth/principal/caller.ts';
import type { JobResult } from '../../storage/deployment/jobs.ts';
import { foundRuns } from '../../storage/deployment/runs/run-search.ts';
import type { RunRow } from '../../storage/deployment/runs/run-rows.ts';
import { foundThreads, type ThreadFilter } from '../../storage/deployment/threads/threads.ts';
import type { Sql } from '../../storage/postgres/sql.ts';
import { isTimeLimit } from '../../storage/postgres/sql-state.ts';
import type { Storage } from '../../storage/storage.ts';
import { readAccess } from '../threads/read-access.ts';
import { ownerOf } from './job-owner.ts';
import { jobTaskName } from './job-tasks.ts';

/** Rows in the response of a preview. */
const shownRows = 10;

type RunKind = 'cancel_runs' | 'retry_runs';

/** Cancelled runs are not retried: somebody wanted them to end. */
const statuses: Record<RunKind, RunRow['status'][]> = {
  cancel_runs: ['pending', 'running'],
  retry_runs: ['error', 'timeout'],
};

export class JobService {
  readonly #storage: Pick<Storage, 'jobs' | 'periodicTasks'>;
  readonly #users: RunUsers;

  constructor(storage: Pick<Storage, 'jobs' | 'periodicTasks'>, users: RunUsers) {
    this.#storage = storage;
    this.#users = users;
  }

  /** Throws `conflict` when a job of the kind is in progress, `invalid` for too many rows. */
  async create(body: JobCreate, authorizer: Authorizer): Promise<Job & { rows: JobRow[] }> {
    const { kind, filter = null } = body;
    const owner = ownerOf(authorizer.user);
    const order = kind === 'cancel_runs' ? 'desc' : 'asc';
    const found = isOfRuns(kind)
      ? await runsOf(kind, body, authorizer, order)
      : await threadsOf(body, authorizer);
    await this.#assertNoneLive(kind, owner);
    const job = { kind, owner, filter, arguments: body.arguments ?? {} };
    const created = await this.#storage.jobs
      .create(job, found, { order, rowsMax: jobRowsMax })
      .catch((error: unknown) => {
        if (isTimeLimit(error)) throw invalid(['body', 'filter'], 'takes too long; narrow it');
        throw error;
      });
    if (!created)
      throw invalid(['body', 'filter'], `finds more than ${jobRowsMax} rows, the most of a job; narrow it`);
    const rows = await this.#storage.jobs.listItems(created.job_id, { after: 0, limit: shownRows });
    return { ...created, rows };
  }

  async get(job_id: string, user: User | undefined): Promise<Job> {
    return this.#find(job_id, ownerOf(user));
  }

  async list(user: User | undefined, page: { limit: number; offset: number }): Promise<Job[]> {
    return this.#storage.jobs.list(ownerOf(user), page);
  }

  async listRows(
    job_id: string,
    user: User | undefined,
    page: { after: number; result?: readonly JobResult[] | undefined; limit: number },
  ): Promise<JobRow[]> {
    await this.#find(job_id, ownerOf(user));
    return this.#storage.jobs.listItems(job_id, page);
  }

  /** The job acts as the user of this call. A job that is in progress stays as it is. */
  async start(job_id: string, user: User | undefined): Promise<Job> {
    const owner = ownerOf(user);
    const { kind } = await this.#find(job_id, owner);
    const started = await this.#storage.jobs.start(job_id, owner, this.#users.seal(user));
    if (started === 'live') await this.#assertNoneLive(kind, owner);
    if (started === undefined || started === 'live') {
      const job = await this.#find(job_id, owner);
      if (job.state === 'running') return job;
      throw new Problem('conflict', `Job ${job_id} cannot be started: its state is ${job.state}`);
    }
    await this.#storage.periodicTasks.hasten(jobTaskName(user !== undefined));
    return started;
  }

  /** A job that has ended stays as it is. */
  async cancel(job_id: string, user: User | undefined): Promise<Job> {
    const owner = ownerOf(user);
    const cancelled = await this.#storage.jobs.cancel(job_id, owner);
    if (cancelled?.state === 'cancelling')
      await this.#storage.periodicTasks.hasten(jobTaskName(user !== undefined));
    return cancelled ?? this.#find(job_id, owner);
  }

  async #find(job_id: string, owner: string): Promise<Job> {
    const job = await this.#storage.jobs.find(job_id, owner);
    if (!job) throw notFound('Job', job_id);
    return job;
  }

  async #assertNoneLive(kind: JobKind, owner: string): Promise<void> {
    const live = await this.#storage.jobs.findLive(kind, owner);
    if (live !== undefined)
      throw new Problem(
        'conflict',
        `Job ${live} of kind ${kind} is in progress. Wait for its end, or cancel it`,
      );
  }
}

const isOfRuns = (kind: JobKind): kind is RunKind => kind in statuses;

const runsOf = async (
  kind: RunKind,
  { filter = {}, ids }: JobCreate,
  authorizer: Authorizer,
  sort_order: 'asc' | 'desc',
): Promise<Sql> => {
  const { status: wanted, ...search } = RunJobFilter.parse(filter);
  const access = await readAccess(authorizer, { thread_id: search.thread_id });
  const status = statuses[kind].filter((one) => wanted === undefined || [wanted].flat().includes(one));
  const page = { sort_order, limit: jobRowsMax + 1 };
  return foundRuns({ ...search, run_ids: ids, status }, page, access);
};

const threadsOf = async ({ filter = {}, ids }: JobCreate, authorizer: Authorizer): Promise<Sql> => {
  const { metadata, status, ...others } = ThreadJobFilter.parse(filter);
  const event = { ids, metadata, values: undefined, status, limit: 0, offset: 0 };
  const { value, access } = await authorizer.authorize('threads:search', event);
  const { values, limit: _, offset: _offset, ...wanted } = value;
  if (values !== undefined)
    throw new Problem('not_supported', 'Jobs have no filter on values, which the auth handler has set');
  return foundThreads({ ...wanted, ...others } as ThreadFilter, access, jobRowsMax + 1);
};
