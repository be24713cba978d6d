// Threads. A thread's values are those of its head checkpoint; the row holds no copy.
import { type AnswerLimits, defaultAnswerLimits } from '../../postgres/answer-limits.ts';
import { type BoundedPage, readSortedPage, sortedIds, type SortedPage } from '../../postgres/bounded-page.ts';
import { GroupedWrites } from '../../postgres/grouped-writes.ts';
import type { Database } from '../../postgres/database.ts';
import { containsMetadata, passes, type RowFilter } from '../../postgres/row-filter.ts';
import { exactTime } from '../../postgres/exact-text.ts';
import { all, count, countUpTo, raw, select, type Sql, sql } from '../../postgres/sql.ts';
import { channelsAtHead, recordedJoin } from '../checkpoints/recorded-state.ts';
import { findThreadUsage } from './thread-usage.ts';
import { readStatement, statement } from '../../postgres/statement.ts';

/** Searches by time: each of these columns has an index that begins with it. */
const timeColumns = [
  { column: 'created_at', from: 'created_after', before: 'created_before' },
  { column: 'updated_at', from: 'updated_after', before: 'updated_before' },
  { column: 'state_updated_at', from: 'state_updated_after', before: 'state_updated_before' },
] as const;

type TimeField = (typeof timeColumns)[number]['from' | 'before'];

/** Times from `…_after` on, and before `…_before`. */
export type ThreadTimes = { [Name in TimeField]?: string | undefined };

/** The parameters have the type of the column: with another type, no index is used under row level security. */
export const withinTimes = (times: ThreadTimes): Sql[] =>
  timeColumns.flatMap(({ column, from, before }) => {
    const [first, end] = [times[from], times[before]];
    return [
      ...(first === undefined ? [] : [sql`${raw(column)} >= ${first}::timestamptz`]),
      ...(end === undefined ? [] : [sql`${raw(column)} < ${end}::timestamptz`]),
    ];
  });

export interface ThreadRow {
  thread_id: string;
  blob_space: string;
  status: 'idle' | 'busy' | 'interrupted' | 'error';
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  /** JSON text. */
  interrupts: string;
  /** JSON text. */
  error: string | null;
  created_at: string;
  updated_at: string;
  state_updated_at: string;
  /** Null for a thread without a time to live. */
  ttl_strategy: TtlStrategy | null;
  ttl_minutes: number | null;
  /** Null also after `keep_latest` was applied, until the state changes again. */
  expires_at: string | null;
  /** Incremented when checkpoints or blobs of the thread are removed. */
  removals: number;
}

export type TtlStrategy = 'delete' | 'keep_latest';

/** A time to live, which counts from the last change of the state; null for none. */
export type ThreadTtl = { strategy: TtlStrategy; minutes: number } | null;

/** Without a strategy, an existing thread keeps its strategy, and a new thread gets `delete`. */
export type GivenTtl = { strategy: TtlStrategy | undefined; minutes: number } | null;

export interface ThreadFilter extends ThreadTimes {
  ids?: string[] | undefined;
  status?: ThreadRow['status'] | undefined;
  /** Containment, as jsonb `@>` defines it. */
  metadata?: Record<string, unknown> | undefined;
  /** True for threads that wait for an answer, false for the others. */
  has_interrupts?: boolean | undefined;
}

export interface ThreadPage extends SortedPage {
  sort_by: 'thread_id' | 'status' | 'created_at' | 'updated_at' | 'state_updated_at';
}

const columnNames = [
  'thread_id',
  'blob_space',
  'status',
  'metadata',
  'config',
  'interrupts',
  'error',
  'created_at',
  'updated_at',
  'state_updated_at',
  'ttl_strategy',
  'ttl_minutes',
  'expires_at',
  'removals',
] as const;
const columns = columnNames.join(', ');
const isJson = new Set<string>(['metadata', 'config']);

/** Columns of any size. */
const shownColumns = ['t.metadata', 't.config', 't.interrupts', 't.error', 'c.channels', 'c.shape', 's.ref'];
/** Stored bytes of these columns, up to which a thread is a short read. */
const shortBytes = 65_536;

/** One snapshot of a thread and of the checkpoint from which its values are built. */
const shown = `select ${columnNames.map((name) => (isJson.has(name) ? `t.${name}::text` : `t.${name}`)).join(', ')}, c.channels, c.shape, s.ref as recorded
  from threads t
  left join checkpoint_heads h on h.thread_id = t.thread_id and h.checkpoint_ns = ''
  left join checkpoints c on c.thread_id = h.thread_id and c.checkpoint_ns = h.checkpoint_ns and c.checkpoint_id = h.checkpoint_id
  ${recordedJoin}
  where t.thread_id = $1 and t.metadata @@ $2::jsonpath`;

export const statements = {
  create: statement<ThreadRow>(`insert into threads (thread_id, blob_space, metadata, config)
      select $1::uuid, $1::uuid, $2::jsonb, $3::jsonb where not is_of_lone_run($1)
      on conflict (thread_id) do nothing returning ${columns}`),
  // An id that is twice in the list is inserted once, with the values of the first. Threads that exist are left out, because an insert waits
  // for transactions that are changing the existing row. For others that create or delete one of the threads, the list waits for a second.
  // A subquery as a value: a join could scan the table.
  createSeveral: statement<ThreadRow>(`insert into threads (thread_id, blob_space, metadata, config)
      select n.thread_id, n.thread_id, n.metadata, n.config
      from set_config('lock_timeout', '1s', true),
        rows from (json_to_recordset($1::json) as (thread_id uuid, metadata jsonb, config jsonb)) with ordinality
          as n (thread_id, metadata, config, place)
      where (select t.thread_id from threads t where t.thread_id = n.thread_id) is null and not is_of_lone_run(n.thread_id)
      order by n.thread_id, n.place
      on conflict (thread_id) do nothing returning ${columns}`),
  createWithTtl:
    statement<ThreadRow>(`insert into threads (thread_id, blob_space, metadata, config, ttl_strategy, ttl_minutes)
      select $1::uuid, $1::uuid, $2::jsonb, $3::jsonb,
        case when $5::float8 is not null then coalesce($4::text, 'delete') end, $5::float8 where not is_of_lone_run($1)
      on conflict (thread_id) do nothing returning ${columns}`),
  get: readStatement<ThreadRow>(
    `select ${columns} from threads where thread_id = $1 and metadata @@ $2::jsonpath`,
  ),
  show: readStatement<ShownThread & { recorded: string | null }>(shown),
  showShort: readStatement<ShownThread & { recorded: string | null }>(
    `${shown} and ${shownColumns.map((name) => `coalesce(pg_column_size(${name}), 0)`).join(' + ')} <= ${shortBytes}`,
    { isShort: true },
  ),
  patch: statement<ThreadRow>(`update threads set metadata = metadata || $2, updated_at = now()
      where thread_id = $1 and metadata @@ $3::jsonpath and (metadata || $2) @@ $3::jsonpath returning ${columns}`),
  patchWithTtl:
    statement<ThreadRow>(`update threads set metadata = metadata || $2, updated_at = now(), ttl_minutes = $5,
        ttl_strategy = case when $5::float8 is not null then coalesce($4::text, ttl_strategy, 'delete') end,
        ttl_since = now(), ttl_done_at = null
      where thread_id = $1 and metadata @@ $3::jsonpath and (metadata || $2) @@ $3::jsonpath returning ${columns}`),
  delete: statement<{ deleted: boolean }>('select delete_thread($1, $2) as deleted'),
  lock: statement(
    'select thread_id from threads where thread_id = $1 and metadata @@ $2::jsonpath for update',
  ),
  deleteUnused: statement(`select delete_thread($1) where not exists (select 1 from runs where thread_id = $1)
      and not exists (select 1 from checkpoint_heads where thread_id = $1)
      and not exists (select 1 from crons where thread_id = $1)`),
  listOfAssistant: statement<{
    thread_id: string;
  }>(`select t.thread_id from threads t where t.metadata @> jsonb_build_object('assistant_id', $1::text)
      and t.metadata @@ $2::jsonpath limit $3`),
  sweep: statement<{ more: boolean }>('select sweep_deleted_thread($1, $2) as more'),
  listDeleted: statement<{ thread_id: string }>(
    'select thread_id from deleted_threads order by deleted_at limit $1',
  ),
  watch: statement(`update threads set watched_until = greatest(watched_until, now() + $2 * interval '1 ms')
      where thread_id = $1 and metadata @@ $3::jsonpath returning thread_id`),
  copy: statement<{ copied: CopyOutcome }>('select copy_thread($1, $2, $3, $4, $5, $6) as copied'),
};

export type CopyOutcome = 'copied' | 'missing' | 'outside' | 'too_large';

export type ThreadStorage = ReturnType<typeof threadStorage>;

const ttlValues = (ttl: GivenTtl) => [ttl?.strategy ?? null, ttl?.minutes ?? null];

/** The condition of the index threads_waiting. Without parameters, so that a plan for any values can use it. */
const isWaiting = sql`(status = 'interrupted' and interrupts <> '{}')`;

const conditions = (
  { ids, status, metadata, has_interrupts, ...times }: ThreadFilter,
  access: RowFilter,
): Sql[] => [
  ...passes(access),
  ...(ids === undefined ? [] : [sql`thread_id = any (${ids}::uuid[])`]),
  ...(status === undefined ? [] : [sql`status = ${status}`]),
  ...containsMetadata(metadata),
  ...(has_interrupts === undefined ? [] : [has_interrupts ? isWaiting : sql`not ${isWaiting}`]),
  ...withinTimes(times),
];

/** The threads of a job, the oldest first. */
export const foundThreads = (filter: ThreadFilter, access: RowFilter, limit: number): Sql =>
  sql`select null::uuid as run_id, thread_id, created_at, status from threads
    where ${all(conditions(filter, access))} order by created_at, thread_id limit ${limit}`;

const tableOf = (filter: ThreadFilter, access: RowFilter) => ({
  table: 'threads',
  id: 'thread_id',
  conditions: conditions(filter, access),
});

/** JSON is text in lists. */
const listColumns: Record<string, string> = Object.fromEntries(
  columnNames.map((name) => [name, isJson.has(name) ? `r.${name}::text` : `r.${name}`]),
);
const longColumns = ['metadata', 'config', 'interrupts', 'error'];

/** The sort column as text, for a later page that begins behind the thread. */
const placeColumn = (sort_by: ThreadPage['sort_by']): string =>
  sort_by === 'status' || sort_by === 'thread_id' ? `r.${sort_by}::text` : exactTime(`r.${sort_by}`);

/**
 * A thread in a list: columns that were not requested are absent, and JSON is text. `place`: the column by which the list is sorted; times
 * have microseconds.
 */
export type ListedThread = Pick<ThreadRow, 'thread_id' | 'blob_space' | 'created_at'> & {
  place: string;
} & Partial<Omit<ThreadRow, 'metadata' | 'config'> & { metadata: string; config: string }>;

/** A thread with the columns of its newest checkpoint from which its values are built. They are null when there is no checkpoint. */
export type ShownThread = Omit<ThreadRow, 'metadata' | 'config'> & { metadata: string; config: string } & (
    | { channels: string; shape: string | null }
    | { channels: null; shape: null }
  );

const searches = (db: Database, answers: AnswerLimits) => ({
  /** `wanted` selects the columns, in addition to those that identify a thread. */
  search(
    filter: ThreadFilter,
    page: ThreadPage,
    access: RowFilter,
    wanted: (column: string) => boolean,
  ): Promise<BoundedPage<ListedThread>> {
    const needed = new Set(['thread_id', 'blob_space', 'created_at']);
    const columns = Object.fromEntries(
      Object.entries(listColumns).filter(([name]) => needed.has(name) || wanted(name)),
    );
    return readSortedPage<ListedThread>(db, tableOf(filter, access), page, {
      columns: { ...columns, place: placeColumn(page.sort_by) },
      long: longColumns.filter((name) => name in columns),
      answers,
    });
  },

  /** The ids of a page. */
  async searchIds(filter: ThreadFilter, page: ThreadPage, access: RowFilter): Promise<string[]> {
    const rows = await select<{ thread_id: string }>(db, sortedIds(tableOf(filter, access), page));
    return rows.map(({ thread_id }) => thread_id);
  },

  count: (filter: ThreadFilter, access: RowFilter): Promise<number> =>
    count(db, 'threads', conditions(filter, access)),

  countUpTo: (filter: ThreadFilter, access: RowFilter, most: number): Promise<number> =>
    countUpTo(db, 'threads', conditions(filter, access), most),
});

interface ThreadInsert {
  thread_id: string;
  /** JSON. */
  metadata: string;
  config: string;
}

/** An output is undefined when the id is taken. */
const creations = (db: Database) =>
  new GroupedWrites<ThreadInsert, ThreadRow | undefined>({
    async one({ thread_id, metadata, config }) {
      return (await db.query(statements.create, [thread_id, metadata, config]))[0];
    },
    async several(inputs) {
      const list = inputs.map(
        ({ thread_id, metadata, config }) =>
          `{"thread_id":${JSON.stringify(thread_id)},"metadata":${metadata},"config":${config}}`,
      );
      const rows = await db.query(statements.createSeveral, [`[${list.join(',')}]`]);
      const byId = new Map(rows.map((row) => [row.thread_id, row]));
      return inputs.map(({ thread_id }) => {
        const id = thread_id.toLowerCase();
        const row = byId.get(id);
        byId.delete(id);
        return row;
      });
    },
    bytesOf: ({ metadata, config }) => metadata.length + config.length,
  });

export const threadStorage = (db: Database, answers = defaultAnswerLimits, created = creations(db)) => ({
  ...searches(db, answers),

  /** Returns the new row, or undefined when the id is taken. Without a ttl, the deployment's default applies. */
  async create(
    thread: Pick<ThreadRow, 'thread_id' | 'metadata' | 'config'>,
    ttl?: GivenTtl,
  ): Promise<ThreadRow | undefined> {
    const { thread_id, metadata, config } = thread;
    const input = { thread_id, metadata: JSON.stringify(metadata), config: JSON.stringify(config) };
    if (ttl === undefined) return created.write(input);
    const values = [thread_id, input.metadata, input.config, ...ttlValues(ttl)];
    return (await db.query(statements.createWithTtl, values))[0];
  },

  async find(thread_id: string, access: RowFilter): Promise<ThreadRow | undefined> {
    return (await db.query(statements.get, [thread_id, access.jsonpath]))[0];
  },

  findUsage: (thread_id: string, access: RowFilter) => findThreadUsage(db, thread_id, access),

  /** Merges metadata by key. Undefined when the thread does not exist, or would not pass the filter afterwards. A ttl starts now. */
  async patch(
    thread_id: string,
    metadata: Record<string, unknown>,
    access: RowFilter,
    ttl?: GivenTtl,
  ): Promise<ThreadRow | undefined> {
    const values = [thread_id, JSON.stringify(metadata), access.jsonpath];
    const [row] =
      ttl === undefined
        ? await db.query(statements.patch, values)
        : await db.query(statements.patchWithTtl, [...values, ...ttlValues(ttl)]);
    return row;
  },

  /** Undefined when there is no such thread. Most threads are short reads, and cost one statement. */
  async findShown(thread_id: string, access: RowFilter): Promise<ShownThread | undefined> {
    const values = [thread_id, access.jsonpath];
    const [short] = await db.query(statements.showShort, values);
    const found = short ?? (await db.query(statements.show, values))[0];
    if (!found) return undefined;
    const { recorded, ...row } = found;
    return row.channels === null ? row : { ...row, channels: channelsAtHead(row.channels, recorded) };
  },

  /** Deletes the thread's row; `sweep` deletes the rest. False when there is no such thread. */
  async delete(thread_id: string, access: RowFilter): Promise<boolean> {
    const values = [thread_id, access.jsonpath];
    return (await db.query(statements.delete, values))[0]?.deleted ?? false;
  },

  /** Deletes a thread without runs, state and crons. Locks it in a statement of its own, so that the next one sees concurrent inserts. */
  deleteUnused: (thread_id: string, access: RowFilter): Promise<void> =>
    db.transact(async (tx) => {
      const locked = await tx.query(statements.lock, [thread_id, access.jsonpath]);
      if (locked.length > 0) await tx.query(statements.deleteUnused, [thread_id]);
    }),

  /** Deletes up to `rows` rows of a deleted thread; returns whether there may be more. */
  async sweep(thread_id: string, rows: number): Promise<boolean> {
    return (await db.query(statements.sweep, [thread_id, rows]))[0]?.more ?? false;
  },

  /** Deleted threads that still have rows, the oldest deletion first. */
  async listDeleted(limit: number): Promise<string[]> {
    const rows = await db.query(statements.listDeleted, [limit]);
    return rows.map((row) => row.thread_id);
  },

  /** Threads whose last run used this assistant. */
  async listOfAssistant(assistant_id: string, limit: number, access: RowFilter): Promise<string[]> {
    const values = [assistant_id, access.jsonpath, limit];
    const rows = await db.query(statements.listOfAssistant, values);
    return rows.map((row) => row.thread_id);
  },

  /** Records for `ms` that a client reads the events of the thread's runs. False when there is no such thread. */
  async watch(thread_id: string, ms: number, access: RowFilter): Promise<boolean> {
    return (await db.query(statements.watch, [thread_id, ms, access.jsonpath])).length > 0;
  },

  /** `outside`: the copy would not pass its filter. `too_large`: the source has more than `rowsMax` checkpoints and writes. */
  async copy(
    source: { thread_id: string; access: RowFilter },
    copy: { thread_id: string; access: RowFilter; metadata: Record<string, unknown> },
    rowsMax: number,
  ): Promise<CopyOutcome> {
    const rows = await db.query(statements.copy, [
      source.thread_id,
      copy.thread_id,
      JSON.stringify(copy.metadata),
      source.access.jsonpath,
      copy.access.jsonpath,
      rowsMax,
    ]);
    return rows[0]?.copied ?? 'missing';
  },
});
