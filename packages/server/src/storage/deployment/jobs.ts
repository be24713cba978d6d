// Jobs on many runs or threads, and their rows. A periodic task works on the jobs, so no row has a lease: one process at a time takes the next
// rows of a job, and stores their results together with the counts. The sum of the counts is the position of the last row with a result.
import type { Job, JobKind, JobRow } from '@svc/contract';
import type { Database } from '../postgres/database.ts';
import { compile, raw, type Sql, sql } from '../postgres/sql.ts';
import { namedStatement, readStatement, statement } from '../postgres/statement.ts';

export type JobResult = NonNullable<JobRow['result']>;

export interface NewJob {
  kind: JobKind;
  owner: string;
  filter: Record<string, unknown> | null;
  arguments: Record<string, unknown>;
}

/** A job in progress, for the process that works on it. */
export interface ClaimedJob extends Pick<Job, 'job_id' | 'kind' | 'state' | 'arguments'> {
  owner: string;
  sealed_user: string | null;
  /** Rows with a result. */
  processed: number;
}

export interface ItemOutcome {
  result: JobResult;
  /** Null for `done`. */
  reason: string | null;
}

/** Previews of an owner. */
const previewsMax = 10;

const kept = { preview: `interval '1 hour'`, ended: `interval '7 days'` };
const uniqueViolation = '23505';

const columns = `job_id, kind, state, filter, arguments, total, done, failed, skipped, error, created_at, started_at, ended_at, expires_at`;
const itemColumns = 'position, thread_id, run_id, status, created_at, result, reason';
const isLive = `state in ('running', 'cancelling')`;
const isKept = 'expires_at > now()';
const ended = `ended_at = now(), sealed_user = null, expires_at = now() + ${kept.ended}`;

export const statements = {
  live: readStatement<{ job_id: string }>(
    `select job_id from jobs where kind = $1 and owner = $2 and ${isLive}`,
  ),
  // The oldest previews expire, so that a caller has few.
  expirePreviews: statement(`update jobs set expires_at = now() where job_id in (
        select job_id from jobs where owner = $1 and state = 'preview' and expires_at > now()
        order by created_at desc, job_id desc offset ${previewsMax - 1})`),
  get: readStatement<Job>(`select ${columns} from jobs where job_id = $1 and owner = $2 and ${isKept}`),
  list: readStatement<Job>(`select ${columns} from jobs where owner = $1 and ${isKept}
      order by created_at desc, job_id desc limit $2 offset $3`),
  items: readStatement<JobRow>(`select ${itemColumns} from job_rows
      where job_id = $1 and position > $2 and ($3::text[] is null or result = any ($3)) order by position limit $4`),
  start:
    statement<Job>(`update jobs set state = 'running', started_at = now(), turn_at = now(), sealed_user = $3, expires_at = now() + ${kept.ended}
      where job_id = $1 and owner = $2 and state = 'preview' and ${isKept} returning ${columns}`),
  // A preview is deleted soon.
  cancel:
    statement<Job>(`update jobs set state = case when state = 'preview' then 'cancelled' else 'cancelling' end,
        ended_at = case when state = 'preview' then now() end, expires_at = case when state = 'preview' then now() else expires_at end
      where job_id = $1 and owner = $2 and state in ('preview', 'running') and ${isKept} returning ${columns}`),
  // A job that no process can work on expires too.
  claim:
    statement<ClaimedJob>(`update jobs set turn_at = now(), expires_at = now() + ${kept.ended} where job_id = (
        select job_id from jobs where ${isLive} and (sealed_user is not null) = $1
        order by turn_at limit 1 for update skip locked)
      returning job_id, kind, state, arguments, owner, sealed_user, done + failed + skipped as processed`),
  // Changes nothing when another process has stored these rows.
  record: namedStatement<{ job_id: string }>(`with job as (
        select j.job_id, j.state, j.total from jobs j
        where j.job_id = :job_id and j.${isLive} and j.done + j.failed + j.skipped = :processed for update
      ), stored as (
        update job_rows r set result = o.result, reason = o.reason
        from job, unnest(:positions::integer[], :results::text[], :reasons::text[]) o (position, result, reason)
        where r.job_id = job.job_id and r.position = o.position returning r.result
      ), counted as (
        select count(*)::integer as total, (count(*) filter (where result = 'done'))::integer as done,
          (count(*) filter (where result = 'failed'))::integer as failed,
          (count(*) filter (where result = 'skipped'))::integer as skipped
        from stored
      ), next as (
        select job.job_id, c.done, c.failed, c.skipped, case
            when :processed::integer + c.total = job.total then 'completed'
            when job.state = 'cancelling' then 'cancelled' else 'running' end as state
        from job, counted c
      )
      update jobs j set state = n.state, done = j.done + n.done, failed = j.failed + n.failed, skipped = j.skipped + n.skipped,
        ended_at = case when n.state <> 'running' then now() end,
        sealed_user = case when n.state = 'running' then j.sealed_user end, expires_at = now() + ${kept.ended}
      from next n where j.job_id = n.job_id returning j.job_id`),
  fail: statement(`update jobs set state = 'failed', error = $2, ${ended} where job_id = $1 and ${isLive}`),
  // A job without rows is deleted in the next round.
  deleteExpired: statement<{ deleted: number }>(`with due as (
        select j.job_id from jobs j where j.expires_at <= now() order by j.expires_at limit 100
      ), emptied as (
        delete from job_rows r where (r.job_id, r.position) in (
          select o.job_id, o.position from due, lateral (
            select o.job_id, o.position from job_rows o where o.job_id = due.job_id limit $1) o limit $1)
        returning 1
      ), gone as (
        delete from jobs j using due where j.job_id = due.job_id
          and not exists (select from job_rows r where r.job_id = j.job_id) returning 1
      )
      select (select count(*)::integer from emptied) + (select count(*)::integer from gone) as deleted`),
};

/** How the rows of a preview are ordered, and how many it may have. */
export interface Snapshot {
  order: 'asc' | 'desc';
  rowsMax: number;
}

/** Stores a job with the rows of `found`; no row when they are too many. */
const creationOf = (
  { kind, owner, filter, arguments: given }: NewJob,
  found: Sql,
  { order, rowsMax }: Snapshot,
): Sql =>
  sql`with found as materialized (${found}),
    made as (
      insert into jobs (kind, owner, filter, arguments, total, expires_at)
      select ${kind}::text, ${owner}::text, ${filter === null ? null : JSON.stringify(filter)}::jsonb, ${JSON.stringify(given)}::jsonb,
        (select count(*) from found), now() + ${raw(kept.preview)}
      where (select count(*) from found) <= ${rowsMax}::integer returning ${raw(columns)}
    ), stored as (
      insert into job_rows (job_id, position, thread_id, run_id, status, created_at)
      select m.job_id, row_number() over (order by f.created_at ${raw(order)}, f.thread_id ${raw(order)}, f.run_id ${raw(order)}),
        f.thread_id, f.run_id, f.status, f.created_at
      from made m, found f
    )
    select ${raw(columns)} from made`;

export type JobStorage = ReturnType<typeof jobStorage>;

export const jobStorage = (db: Database) => ({
  /** The job of the kind that is in progress. */
  async findLive(kind: string, owner: string): Promise<string | undefined> {
    return (await db.query(statements.live, [kind, owner]))[0]?.job_id;
  },

  /** Undefined when `found`, which reads one row more than `rowsMax`, has too many rows. */
  async create(job: NewJob, found: Sql, snapshot: Snapshot): Promise<Job | undefined> {
    await db.query(statements.expirePreviews, [job.owner]);
    const { text, values } = compile(creationOf(job, found, snapshot));
    const [row] = await db.query<Job>({ text }, values);
    return row;
  },

  async find(job_id: string, owner: string): Promise<Job | undefined> {
    return (await db.query(statements.get, [job_id, owner]))[0];
  },

  /** Newest first. */
  list: (owner: string, { limit, offset }: { limit: number; offset: number }): Promise<Job[]> =>
    db.query(statements.list, [owner, limit, offset]),

  /** The rows behind a position. */
  listItems: (
    job_id: string,
    { after, result, limit }: { after: number; result?: readonly JobResult[] | undefined; limit: number },
  ): Promise<JobRow[]> => db.query(statements.items, [job_id, after, result ?? null, limit]),

  /** `live`: the owner has another job of the kind in progress. Undefined when there is no such preview. */
  async start(job_id: string, owner: string, sealed_user: string | null): Promise<Job | 'live' | undefined> {
    try {
      return (await db.query(statements.start, [job_id, owner, sealed_user]))[0];
    } catch (error) {
      if ((error as { code?: string }).code === uniqueViolation) return 'live';
      throw error;
    }
  },

  /** Undefined when there is no such job, or when it has ended. */
  async cancel(job_id: string, owner: string): Promise<Job | undefined> {
    return (await db.query(statements.cancel, [job_id, owner]))[0];
  },

  /** The next job: one with a user, or one without. */
  async claim(hasUser: boolean): Promise<ClaimedJob | undefined> {
    return (await db.query(statements.claim, [hasUser]))[0];
  },

  /** Stores the results of the next rows. The job ends when it has no other rows, or when it is being cancelled. */
  async record(
    { job_id, processed }: Pick<ClaimedJob, 'job_id' | 'processed'>,
    outcomes: readonly ItemOutcome[],
  ): Promise<void> {
    const values = statements.record.values({
      job_id,
      processed,
      positions: outcomes.map((_, at) => processed + at + 1),
      results: outcomes.map(({ result }) => result),
      reasons: outcomes.map(({ reason }) => reason),
    });
    await db.query(statements.record, values);
  },

  /** Ends a job that cannot continue. */
  async fail(job_id: string, error: string): Promise<void> {
    await db.query(statements.fail, [job_id, error]);
  },

  /** Deletes up to `limit` rows of expired jobs, and the jobs without rows. Returns how many. */
  async deleteExpired(limit: number): Promise<number> {
    return (await db.query(statements.deleteExpired, [limit]))[0]?.deleted ?? 0;
  },
});
