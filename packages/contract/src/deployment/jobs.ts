import * as z from 'zod';
import { Id, JsonObject, nullish, queryInteger, queryList, Time } from '../json.ts';
import { queryLimit, queryOffset } from '../page.ts';
import { routesOf } from '../route.ts';
import { RunStatus } from './run.ts';
import { runFilter } from './run-search.ts';
import { cancelAction } from './runs.ts';
import { threadFilter } from './thread-search.ts';
import { ThreadStatus } from './thread.ts';

/** The most rows of a job. */
export const jobRowsMax = 100_000;

const JobKind = z.enum(['cancel_runs', 'retry_runs', 'delete_threads', 'prune_threads']).meta({
  id: 'JobKind',
  description:
    '`cancel_runs`: pending and running runs. `retry_runs`: repeats runs that ended with `error` or `timeout` as new runs of their threads, with the same input, config and context, the oldest first. `prune_threads`: deletes all checkpoints except those of the current state',
});
export type JobKind = z.output<typeof JobKind>;

const JobState = z.enum(['preview', 'running', 'cancelling', 'completed', 'cancelled', 'failed']).meta({
  id: 'JobState',
  description:
    '`preview`: waits for its start, for an hour. `completed`: every row has a result. `failed`: the job could not continue, see `error`',
});

const JobResult = z.enum(['done', 'failed', 'skipped']).meta({
  id: 'JobResult',
  description: '`skipped`: the row has changed since the preview, so nothing was done',
});

const count = z.int().describe('Number of rows with this result');

export const Job = z
  .object({
    job_id: Id,
    kind: JobKind,
    state: JobState,
    filter: JsonObject.nullable().describe('Null for a job with ids'),
    arguments: JsonObject,
    total: z.int().describe('Number of rows'),
    done: count,
    failed: count,
    skipped: count,
    error: z.string().nullable(),
    created_at: Time,
    started_at: Time.nullable(),
    ended_at: Time.nullable(),
    expires_at: Time.describe('When the job is deleted; later while the server works on it'),
  })
  .meta({ id: 'Job', description: 'An action on many runs or threads, which the server executes' });
export type Job = z.output<typeof Job>;

export const JobRow = z
  .object({
    position: z.int().describe('In the order of the work, from 1 on'),
    thread_id: Id,
    run_id: Id.nullable().describe('Null for a job on threads'),
    status: z.union([RunStatus, ThreadStatus]).describe('When the preview was made'),
    created_at: Time,
    result: JobResult.nullable().describe('Null until the row was worked on'),
    reason: z.string().nullable().describe('Why it failed or was skipped'),
  })
  .meta({ id: 'JobRow' });
export type JobRow = z.output<typeof JobRow>;

export const RunJobFilter = z.strictObject(runFilter);
export const ThreadJobFilter = z.strictObject(threadFilter);

const filters: Record<JobKind, z.ZodType> = {
  cancel_runs: RunJobFilter,
  retry_runs: RunJobFilter,
  delete_threads: ThreadJobFilter,
  prune_threads: ThreadJobFilter,
};

export const JobCreate = z
  .object({
    kind: JobKind,
    filter: nullish(JsonObject).describe(
      'As in a search of runs or of threads, without `values`; an empty filter finds all of them',
    ),
    ids: nullish(z.array(Id).min(1).max(10_000)).describe('Ids of runs or threads, instead of `filter`'),
    arguments: nullish(z.strictObject({ action: nullish(cancelAction) })),
  })
  .check(({ value, issues }) => {
    const { kind, filter, ids, arguments: { action } = {} } = value;
    const fault = (path: string[], message: string) =>
      issues.push({ code: 'custom', path, message, input: value });
    if ((filter === undefined) === (ids === undefined)) fault(['filter'], 'needs either filter or ids');
    if (action !== undefined && kind !== 'cancel_runs')
      fault(['arguments', 'action'], `is for cancel_runs, not for ${kind}`);
    const found = filters[kind].safeParse(filter ?? {}).error?.issues ?? [];
    for (const issue of found)
      issues.push({ ...issue, path: ['filter', ...issue.path], input: value } as (typeof issues)[number]);
  })
  .meta({ id: 'JobCreate' });
export type JobCreate = z.output<typeof JobCreate>;

const route = routesOf('Jobs');
const params = z.object({ job_id: Id });
/** A job is visible to the caller who created it. */
const access = 'caller';
const next = { 'X-Pagination-Next': 'Of the next page; absent on the last one' };

export const jobRoutes = {
  createJob: route('post', '/jobs', {
    summary: 'Preview an action on many runs or threads',
    description: `The rows are those that the filter finds now. More than ${jobRowsMax} are refused. The response has the first 10 rows.`,
    access: { resource: 'threads', action: ['read', 'search'] },
    body: JobCreate,
    response: Job.extend({ rows: z.array(JobRow) }).meta({ id: 'JobPreview' }),
    errors: ['conflict', 'not_supported'],
  }),
  listJobs: route('get', '/jobs', {
    summary: 'List the jobs of the caller, newest first',
    access,
    query: z.object({
      limit: queryLimit,
      offset: queryOffset,
    }),
    response: z.array(Job),
    headers: next,
  }),
  getJob: route('get', '/jobs/:job_id', {
    summary: 'Get a job with its counts',
    access,
    params,
    response: Job,
    errors: ['not_found'],
  }),
  listJobRows: route('get', '/jobs/:job_id/rows', {
    summary: 'List the rows of a job with their results',
    access,
    params,
    query: z.object({
      result: queryList(JobResult).describe('Only rows with one of these results'),
      limit: queryLimit,
      after: queryInteger(0, jobRowsMax)
        .optional()
        .transform((value) => value ?? 0)
        .describe('`X-Pagination-Next` of the page before'),
    }),
    response: z.array(JobRow),
    headers: next,
    errors: ['not_found'],
  }),
  startJob: route('post', '/jobs/:job_id/start', {
    audited: 'job.change',
    summary: 'Start a job: it acts as the caller, on the rows of its preview',
    description: 'The conflict names the job that is in progress. A caller has one of each kind.',
    access,
    params,
    response: Job,
    errors: ['not_found', 'conflict'],
  }),
  cancelJob: route('post', '/jobs/:job_id/cancel', {
    summary: 'Cancel a job; the rows without a result stay as they are',
    access,
    params,
    response: Job,
    errors: ['not_found'],
  }),
};
