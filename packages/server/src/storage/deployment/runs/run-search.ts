// Searches of runs across threads, in the order of (created_at, thread_id, run_id).
//
// Only status and time have an index. All other filters, and that of the caller, are applied to windows: a number of runs in the order of
// the page. A caller who may read few threads is served by the runs of these threads instead.
import type { AnswerLimits } from '../../postgres/answer-limits.ts';
import { type BoundedPage, readPage } from '../../postgres/bounded-page.ts';
import type { Database } from '../../postgres/database.ts';
import { exactTime } from '../../postgres/exact-text.ts';
import { containsMetadata, passesAsRun, type RowFilter } from '../../postgres/row-filter.ts';
import { all, compile, raw, select, type Sql, sql } from '../../postgres/sql.ts';
import { listed, type ListedRun, type RunRow } from './run-rows.ts';

type Status = RunRow['status'];

export interface RunSearch {
  run_id?: string | undefined;
  run_ids?: readonly string[] | undefined;
  status?: readonly Status[] | undefined;
  assistant_id?: string | undefined;
  graph_id?: string | undefined;
  thread_id?: string | undefined;
  /** Containment, as jsonb `@>` defines it, in the metadata of the run. */
  metadata?: Record<string, unknown> | undefined;
  /** Inclusive. */
  created_after?: string | undefined;
  /** Exclusive. */
  created_before?: string | undefined;
  /** Inclusive. Runs that have not ended do not match. */
  ended_after?: string | undefined;
  /** Exclusive. */
  ended_before?: string | undefined;
}

/** A position in the order of searches. */
export interface RunPlace {
  /** With microseconds. */
  created_at: string;
  thread_id: string;
  run_id: string;
}

export interface RunSearchPage {
  sort_order: 'asc' | 'desc';
  /** The page begins behind this run. */
  after?: RunPlace | undefined;
  limit: number;
}

/** `end`: the last run of a full window, behind which there may be more; null when all runs were examined. */
export interface SearchedWindow {
  places: RunPlace[];
  end: RunPlace | null;
}

export const statuses: readonly Status[] = [
  'pending',
  'running',
  'error',
  'success',
  'timeout',
  'interrupted',
];

const order = (alias: string, { sort_order }: RunSearchPage): Sql =>
  raw(['created_at', 'thread_id', 'run_id'].map((name) => `${alias}.${name} ${sort_order}`).join(', '));

const createdWithin = ({ created_after, created_before }: RunSearch): Sql[] => [
  ...(created_after === undefined ? [] : [sql`r.created_at >= ${created_after}::timestamptz`]),
  ...(created_before === undefined ? [] : [sql`r.created_at < ${created_before}::timestamptz`]),
];

/** Conditions that the index serves. */
const inBounds = (search: RunSearch, { after, sort_order }: RunSearchPage): Sql => {
  const behind = raw(sort_order === 'desc' ? '<' : '>');
  return all([
    ...createdWithin(search),
    // A run that ended before a time was created before it.
    ...(search.ended_before === undefined ? [] : [sql`r.created_at < ${search.ended_before}::timestamptz`]),
    ...(after === undefined
      ? []
      : [
          sql`(r.created_at, r.thread_id, r.run_id) ${behind} (${after.created_at}::timestamptz, ${after.thread_id}::uuid, ${after.run_id}::uuid)`,
        ]),
  ]);
};

/** All conditions of a search except the times, for the run `r`. */
export const matches = (search: RunSearch, access: RowFilter): Sql => {
  const { run_id, run_ids, status, assistant_id, graph_id, thread_id, metadata, ended_after, ended_before } =
    search;
  const isEnded = raw(`r.status not in ('pending', 'running')`);
  return all([
    ...(run_id === undefined ? [] : [sql`r.run_id = ${run_id}::uuid`]),
    ...(run_ids === undefined ? [] : [sql`r.run_id = any (${run_ids}::uuid[])`]),
    ...(status === undefined ? [] : [sql`r.status = any (${status}::text[])`]),
    ...(thread_id === undefined ? [] : [sql`r.thread_id = ${thread_id}::uuid`]),
    ...(assistant_id === undefined ? [] : [sql`r.assistant_id = ${assistant_id}::uuid`]),
    ...(graph_id === undefined
      ? []
      : [
          sql`exists (select 1 from assistants a where a.assistant_id = r.assistant_id and a.graph_id = ${graph_id})`,
        ]),
    ...(ended_after === undefined ? [] : [isEnded, sql`r.updated_at >= ${ended_after}::timestamptz`]),
    ...(ended_before === undefined ? [] : [isEnded, sql`r.updated_at < ${ended_before}::timestamptz`]),
    ...containsMetadata(metadata).map((condition) => sql`r.${condition}`),
    ...passesAsRun(access),
  ]);
};

const columns = raw('r.run_id, r.thread_id, r.created_at');
const shown = (alias: string): Sql =>
  raw(`${alias}.run_id, ${alias}.thread_id, ${exactTime(`${alias}.created_at`)} as created_at`);

/**
 * Examines the next `rows` runs in the order of the page. Each status has a range of the index, and these are merged. The lateral join keeps
 * the planner from joining the whole table.
 */
const windowOf = (search: RunSearch, page: RunSearchPage, access: RowFilter, rows: number): Sql => {
  const count = raw(String(rows));
  const reversed = page.sort_order === 'desc' ? ('asc' as const) : ('desc' as const);
  return sql`with examined as materialized (
      select e.* from unnest(${search.status ?? statuses}::text[]) s (status) cross join lateral (
        select ${columns} from runs r where r.status = s.status and ${inBounds(search, page)}
        order by ${order('r', page)} limit ${count}) e
      order by ${order('e', page)} limit ${count}
    ), matching as (
      select e.* from examined e cross join lateral (
        select 1 from runs r where r.run_id = e.run_id and ${matches(search, access)} limit 1) m
      order by ${order('e', page)} limit ${page.limit}
    ), last as (
      select e.* from examined e where (select count(*) from examined) = ${count}
      order by ${order('e', { ...page, sort_order: reversed })} limit 1
    )
    select m.* from (
      select ${shown('m')}, false as is_end from matching m union all select ${shown('l')}, true from last l
    ) m order by m.is_end, ${order('m', page)}`;
};

/** The next runs of some threads, and stateless runs, which have none: these are in flight, since they are deleted when they end. */
const inThreads = (
  search: RunSearch,
  page: RunSearchPage,
  access: RowFilter,
  thread_ids: readonly string[],
): Sql => {
  const condition = sql`${inBounds(search, page)} and ${matches(search, access)}`;
  const next = sql`order by ${order('r', page)} limit ${page.limit}`;
  return sql`select ${shown('m')} from (
      select c.* from unnest(${thread_ids}::uuid[]) t (thread_id) cross join lateral (
        select ${columns} from runs r where r.thread_id = t.thread_id and not r.temporary and ${condition} ${next}) c
      union all
      (select ${columns} from runs r
       where r.status in ('pending', 'running') and r.temporary and ${condition} ${next})
    ) m order by ${order('m', page)} limit ${page.limit}`;
};

/** The runs of a job: of all that match, in the order of the page. Status and time have an index. */
export const foundRuns = (search: RunSearch, page: RunSearchPage, access: RowFilter): Sql =>
  sql`select ${columns}, r.status from runs r where ${inBounds(search, page)} and ${matches(search, access)}
    order by ${order('r', page)} limit ${page.limit}`;

export const runSearch = (db: Database, answers: AnswerLimits) => ({
  /** Examines the next `rows` runs, and returns the places of those that match. */
  async searchWindow(
    search: RunSearch,
    page: RunSearchPage,
    access: RowFilter,
    rows: number,
  ): Promise<SearchedWindow> {
    const found = await select<RunPlace & { is_end: boolean }>(db, windowOf(search, page, access, rows));
    const placeOf = ({ created_at, thread_id, run_id }: RunPlace): RunPlace => ({
      created_at,
      thread_id,
      run_id,
    });
    const end = found.find(({ is_end }) => is_end);
    return { places: found.filter(({ is_end }) => !is_end).map(placeOf), end: end ? placeOf(end) : null };
  },

  /** The places of the next runs on the threads, and of stateless runs. */
  searchThreads: (
    search: RunSearch,
    page: RunSearchPage,
    access: RowFilter,
    thread_ids: readonly string[],
  ): Promise<RunPlace[]> => select<RunPlace>(db, inThreads(search, page, access, thread_ids)),

  /** The place of the run `search.run_id`, by the primary key. */
  searchId: (search: RunSearch, page: RunSearchPage, access: RowFilter): Promise<RunPlace[]> =>
    select<RunPlace>(
      db,
      sql`select ${shown('r')} from runs r where ${inBounds(search, page)} and ${matches(search, access)}`,
    ),

  /** At most `limit` threads that pass the filter, in any order. */
  async listPassing(access: RowFilter, limit: number): Promise<string[]> {
    const rows = await select<{ thread_id: string }>(
      db,
      sql`select t.thread_id from threads t where t.metadata @@ ${access.jsonpath}::jsonpath limit ${limit}`,
    );
    return rows.map(({ thread_id }) => thread_id);
  },

  /** Reads the runs at the places. Those that do not match any more are left out. */
  readPlaces: (
    places: readonly RunPlace[],
    search: RunSearch,
    page: RunSearchPage,
    access: RowFilter,
    fields: readonly string[] | undefined,
  ): Promise<BoundedPage<ListedRun>> =>
    readPage<ListedRun>(db, {
      keys: compile(sql`select ${columns} from runs r
        where r.run_id = any (${places.map(({ run_id }) => run_id)}::uuid[]) and ${matches(search, access)}`),
      order: ['created_at', 'thread_id', 'run_id'].map((name) => `k.${name} ${page.sort_order}`).join(', '),
      ...listed(fields),
      from: 'runs r',
      where: 'r.run_id = k.run_id',
      limit: places.length,
      answers,
    }),
});
