// Changes of runs in the order of (updated_at, run_id), for the feed of run changes.
//
// `updated_at` is the time at which a transaction began; the change is visible when the transaction has committed. So a change can appear
// behind changes with later times. A reader reads the last seconds again, and `next_since` says how many: from the beginning of the oldest
// transaction that writes, and five seconds at least. A transaction that takes longer than `changeOverlapMs` can be missed.
import type { AnswerLimits } from '../postgres/answer-limits.ts';
import { type BoundedPage, readPage } from '../postgres/bounded-page.ts';
import type { Database } from '../postgres/database.ts';
import { exactTime } from '../postgres/exact-time.ts';
import type { RowFilter } from '../postgres/row-filter.ts';
import { all, compile, sql } from '../postgres/sql.ts';
import { listed } from './listed-run.ts';
import type { ListedRun } from './run-rows.ts';
import { createdWithin, matches, type RunSearch } from './run-search.ts';

/** Times are ISO 8601 in UTC with microseconds, so that they can be compared as texts. */
export interface ChangedRun {
  run_id: string;
  updated_at: string;
  attempt: number;
}

export interface ChangedRuns {
  /** The time of the read. */
  read_at: string;
  /** Later changes than these can have times from here on. */
  next_since: string;
  /** The earliest time that `next_since` can have. */
  oldest: string;
  rows: ChangedRun[];
}

/** Where a read begins: at a time, or behind a run. */
export interface ChangePlace {
  updated_at: string;
  run_id?: string | undefined;
}

/** A run with the version that was read. */
export type FedRun = ListedRun & { version_at: string; version_attempt: number };

export interface FedRuns {
  search: RunSearch;
  access: RowFilter;
  fields: readonly string[];
}

/** How long before the time of a read a change can have its time, at most. */
export const changeOverlapMs = 30_000;
const overlapMsMin = 5_000;
/** Bytes of runs that one statement returns; more only for a single run. */
const pageBytes = 1_048_576;
const beforeAllIds = '00000000-0000-0000-0000-000000000000';

const since = `coalesce($1::timestamptz, now()) - $2::integer * interval '1 ms'`;
const changedAfter = `select r.run_id, r.updated_at, r.attempt from runs r where (r.updated_at, r.run_id) > (${since}, $3::uuid)`;
const inOrder = 'order by r.updated_at, r.run_id limit $4';

const statements = {
  changed: {
    name: 'runs_changed',
    reads: true,
    // The index runs_settled has all runs but those that execute, which are as many as there are slots, and those that were never claimed:
    // these have not changed since they were created. `updated_at` is not later than `created_at` then.
    // pg_stat_activity hides transactions of other roles; all servers of a database usually have one role.
    text: `with writing as (
        select min(a.xact_start) as since from pg_stat_activity a
        where a.datname = current_database() and a.backend_xid is not null
      ), times as (
        select now() as read_at, now() - ${changeOverlapMs} * interval '1 ms' as oldest,
          least(now() - ${overlapMsMin} * interval '1 ms', w.since) as since from writing w
      )
      select ${exactTime('t.read_at')} as read_at, ${exactTime('greatest(t.oldest, t.since)')} as next_since,
        ${exactTime('t.oldest')} as oldest, c.run_id, ${exactTime('c.updated_at')} as updated_at, c.attempt
      from times t left join lateral (
        select u.* from (
          (${changedAfter} and r.status <> 'running' and (r.status <> 'pending' or r.lease_token > 0) ${inOrder})
          union all
          (${changedAfter} and r.status = 'running' ${inOrder})
          union all
          (${changedAfter} and r.status = 'pending' and r.lease_token = 0 and r.created_at >= ${since}
           order by r.created_at, r.thread_id, r.run_id limit $4)
        ) u order by u.updated_at, u.run_id limit $4
      ) c on true
      order by c.updated_at, c.run_id`,
  },
};

type ChangedRow = Omit<ChangedRuns, 'rows'> & (ChangedRun | { [Name in keyof ChangedRun]: null });

const isChanged = (row: ChangedRow): row is Omit<ChangedRuns, 'rows'> & ChangedRun => row.run_id !== null;

export const runChanges = (db: Database, answers: AnswerLimits) => ({
  /**
   * The next changes of all runs. They name runs of all users, so they are never sent. Without a place they begin `changeOverlapMs` before
   * now; `withOverlap`: they begin that much before the place.
   */
  async listChanged(
    place: ChangePlace | undefined,
    { limit, withOverlap = place === undefined }: { limit: number; withOverlap?: boolean },
  ): Promise<ChangedRuns> {
    const values = [
      place?.updated_at ?? null,
      withOverlap ? changeOverlapMs : 0,
      place?.run_id ?? beforeAllIds,
      limit,
    ];
    const found = await db.query<ChangedRow>(statements.changed, values);
    const [{ read_at, next_since, oldest } = noTimes()] = found;
    const rows = found
      .filter(isChanged)
      .map(({ run_id, updated_at, attempt }) => ({ run_id, updated_at, attempt }));
    return { read_at, next_since, oldest, rows };
  },

  /** Those of the runs that match, with their fields as they are now, in the order of their last change. */
  readChanged: (
    ids: readonly string[],
    { search, access, fields }: FedRuns,
  ): Promise<BoundedPage<FedRun>> => {
    const { columns, long } = listed(fields);
    const condition = all([
      sql`r.run_id = any (${ids}::uuid[])`,
      ...createdWithin(search),
      matches(search, access),
    ]);
    return readPage<FedRun>(db, {
      keys: compile(sql`select r.run_id, r.updated_at from runs r where ${condition}`),
      order: 'k.updated_at, k.run_id',
      columns: { ...columns, version_at: exactTime('r.updated_at'), version_attempt: 'r.attempt' },
      long,
      from: 'runs r',
      where: 'r.run_id = k.run_id',
      limit: ids.length,
      answers: { ...answers, pageBytes: Math.min(answers.pageBytes, pageBytes) },
    });
  },
});

const noTimes = (): never => {
  throw new Error('The statement has returned no row');
};
