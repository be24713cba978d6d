// Crons, and their ticks.
import pg from 'pg';
import { type AnswerLimits, defaultAnswerLimits } from '../postgres/answer-limits.ts';
import type { BoundedPage } from '../postgres/bounded-page.ts';
import type { Database } from '../postgres/database.ts';
import { withNames } from '../postgres/named-parameters.ts';
import { containsMetadata, passes, type RowFilter } from '../postgres/row-filter.ts';
import { readSortedPage, type SortedPage } from '../postgres/sorted-page.ts';
import { count, type Sql, sql } from '../postgres/sql.ts';
import type { NewRun } from './runs.ts';

export interface CronRow {
  cron_id: string;
  assistant_id: string;
  thread_id: string | null;
  on_run_completed: 'delete' | 'keep';
  schedule: string;
  timezone: string | null;
  end_time: string | null;
  enabled: boolean;
  /** JSON text. */
  payload: string;
  metadata: Record<string, unknown>;
  next_run_date: string | null;
  last_error: string | null;
  /** Whom its runs act for; null for nobody. */
  sealed_user: string | null;
  created_at: string;
  updated_at: string;
}

export type NewCron = Omit<CronRow, 'last_error' | 'created_at' | 'updated_at'>;

export interface CronFilter {
  assistant_id?: string | undefined;
  thread_id?: string | undefined;
  enabled?: boolean | undefined;
  metadata?: Record<string, unknown> | undefined;
}

export interface CronPage extends SortedPage {
  sort_by:
    | 'cron_id'
    | 'assistant_id'
    | 'thread_id'
    | 'next_run_date'
    | 'end_time'
    | 'created_at'
    | 'updated_at';
}

/** What a tick shall do, decided when it is due. */
export interface TickPlan {
  run: Pick<
    NewRun,
    | 'run_id'
    | 'thread_id'
    | 'metadata'
    | 'kwargs'
    | 'multitask_strategy'
    | 'webhook'
    | 'resumable'
    | 'sealed_user'
  >;
  next: string | null;
}

export const cronLimits = { perThread: 100, perUser: 1_000, total: 10_000 };

const foreignKeyViolation = '23503';

const columns = `cron_id, assistant_id, thread_id, on_run_completed, schedule, timezone, end_time, enabled, payload, metadata,
  next_run_date, last_error, sealed_user, created_at, updated_at`;

interface CreateCron extends Omit<NewCron, 'metadata'> {
  metadata: string;
  assistant_access: string;
  thread_access: string;
  user_id: string | null;
  per_thread: number;
  per_user: number;
  total: number;
}

const createCron = withNames<CreateCron>(
  'crons_create',
  `insert into crons (cron_id, assistant_id, thread_id, on_run_completed, schedule, timezone, end_time, enabled,
      payload, metadata, next_run_date, sealed_user)
    select $cron_id, a.assistant_id, $thread_id, $on_run_completed, $schedule, $timezone, $end_time, $enabled,
      $payload, $metadata, $next_run_date, $sealed_user
    from assistants a
    where a.assistant_id = $assistant_id and a.metadata @@ $assistant_access::jsonpath
      and ($thread_id::uuid is null
        or exists (select 1 from threads t where t.thread_id = $thread_id and t.metadata @@ $thread_access::jsonpath))
      and ($thread_id::uuid is null or (select count(*) from crons where thread_id = $thread_id) < $per_thread)
      and (select count(*) from crons) < $total
      and ($user_id::text is null or
        (select count(*) from crons c where c.metadata @> jsonb_build_object('svc_auth_user_id', $user_id::text)) < $per_user)
    returning ${columns}`,
);

const statements = {
  now: { name: 'crons_now', reads: true, text: 'select now() as now' },
  get: {
    name: 'crons_get',
    reads: true,
    text: `select ${columns} from crons where cron_id = $1 and metadata @@ $2::jsonpath`,
  },
  lock: {
    name: 'crons_lock',
    text: `select ${columns} from crons where cron_id = $1 and metadata @@ $2::jsonpath for update`,
  },
  update: {
    name: 'crons_update',
    text: `update crons set schedule = $2, timezone = $3, end_time = $4, enabled = $5, payload = $6, metadata = $7,
        on_run_completed = $8, next_run_date = $9, last_error = null, updated_at = now()
      where cron_id = $1 returning ${columns}`,
  },
  delete: {
    name: 'crons_delete',
    text: 'delete from crons where cron_id = $1 and metadata @@ $2::jsonpath returning cron_id',
  },
  due: {
    name: 'crons_due',
    text: `select ${columns}, now() as now from crons where enabled and next_run_date <= now()
      order by next_run_date limit 1 for update skip locked`,
  },
  tick: {
    name: 'crons_tick',
    text: 'insert into cron_ticks (cron_id, scheduled_for, run_id) values ($1, $2, $3) on conflict do nothing returning cron_id',
  },
  run: {
    name: 'crons_run',
    text: `select outcome, status, thread_id from create_run(p_run_id => $1, p_thread_id => $2, p_assistant_id => $3,
      p_metadata => $4, p_kwargs => $5, p_strategy => $6, p_create_thread => $7, p_claim => false,
      p_lease => interval '0', p_delay => interval '0', p_resumable => $8, p_webhook => $9, p_sealed_user => $10)`,
  },
  name: {
    name: 'crons_name',
    text: `update threads set metadata = metadata || jsonb_build_object('cron_id', $2::text) where thread_id = $1`,
  },
  next: {
    name: 'crons_next',
    text: `update crons set next_run_date = $2, enabled = enabled and $3, last_error = $4 where cron_id = $1`,
  },
  disable: {
    name: 'crons_disable',
    text: 'update crons set enabled = false, last_error = $2, updated_at = now() where cron_id = $1',
  },
  prune: {
    name: 'crons_prune',
    text: `delete from cron_ticks where (cron_id, scheduled_for) in (
        select cron_id, scheduled_for from cron_ticks where fired_at < now() - interval '7 days' order by fired_at limit $1)
      returning 1`,
  },
};

export type CronStorage = ReturnType<typeof cronStorage>;

const conditions = ({ assistant_id, thread_id, enabled, metadata }: CronFilter, access: RowFilter): Sql[] => [
  ...passes(access),
  ...(assistant_id === undefined ? [] : [sql`assistant_id = ${assistant_id}`]),
  ...(thread_id === undefined ? [] : [sql`thread_id = ${thread_id}`]),
  ...(enabled === undefined ? [] : [sql`enabled = ${enabled}`]),
  ...containsMetadata(metadata),
];

/** A tick that made no run, and would not the next time. */
export class TickFailed extends Error {
  readonly cron_id: string;

  constructor(cron_id: string, options: { cause: unknown }) {
    super(`Cron ${cron_id} could not fire`, options);
    this.name = 'TickFailed';
    this.cron_id = cron_id;
  }
}

/** What the statement still saw is gone once the foreign key has waited for who deletes it. */
const noneIfGone = (error: unknown): [] => {
  if (error instanceof pg.DatabaseError && error.code === foreignKeyViolation) return [];
  throw error;
};

const fireOne = async (tx: Database, cron: CronRow, { run, next }: TickPlan): Promise<void> => {
  const [made] = await tx.query<{ outcome: string; thread_id: string | null }>(statements.run, [
    run.run_id,
    run.thread_id,
    cron.assistant_id,
    JSON.stringify(run.metadata),
    run.kwargs,
    run.multitask_strategy,
    cron.thread_id === null,
    run.resumable,
    run.webhook,
    run.sealed_user,
  ]);
  const isMade = made?.outcome === 'created';
  // The thread was free of this run's making: skipped, as its strategy says. What is gone will not come back.
  const isLasting = isMade || made?.outcome === 'busy';
  const gone = made?.outcome === 'no_thread' ? 'thread' : 'assistant';
  const error = isMade ? null : isLasting ? 'The thread was busy with another run' : `Its ${gone} is gone`;
  if (isMade && run.thread_id !== null) await tx.query(statements.name, [run.thread_id, cron.cron_id]);
  await tx.query(statements.tick, [cron.cron_id, cron.next_run_date, isMade ? run.run_id : null]);
  await tx.query(statements.next, [cron.cron_id, next, isLasting, error]);
};

/** Columns of a cron in a list; JSON is text. */
const listColumns = (select: readonly string[] | undefined) => {
  const all = Object.fromEntries(columns.split(',').map((column) => [column.trim(), `r.${column.trim()}`]));
  all['metadata'] = 'r.metadata::text';
  // The owner is read from the metadata.
  const names = select && ['cron_id', ...select, ...(select.includes('user_id') ? ['metadata'] : [])];
  return Object.fromEntries(Object.entries(all).filter(([name]) => names?.includes(name) ?? true));
};
const longColumns = ['payload', 'metadata', 'sealed_user', 'last_error'];

/** A cron in a list: what is not selected is absent, and JSON is text. */
export type ListedCron = Partial<Omit<CronRow, 'metadata'> & { metadata: string }>;

const searches = (db: Database, answers: AnswerLimits) => ({
  search: (
    filter: CronFilter,
    page: CronPage,
    access: RowFilter,
    select?: readonly string[],
  ): Promise<BoundedPage<ListedCron>> => {
    const table = { table: 'crons', id: 'cron_id', conditions: conditions(filter, access) };
    const columns = listColumns(select);
    return readSortedPage(db, table, page, {
      columns,
      long: longColumns.filter((name) => name in columns),
      answers,
    });
  },

  count: (filter: CronFilter, access: RowFilter): Promise<number> =>
    count(db, 'crons', conditions(filter, access)),
});

export const cronStorage = (db: Database, answers = defaultAnswerLimits) => ({
  ...searches(db, answers),

  /** Forgets ticks of long ago; returns how many. */
  prune: async (limit: number): Promise<number> => (await db.query(statements.prune, [limit])).length,

  /** The database's time. */
  async now(): Promise<string> {
    return (await db.query<{ now: string }>(statements.now, []))[0]?.now ?? '';
  },

  /** Undefined when the assistant or the thread is not there, or there are as many crons as there may be. */
  async create(
    cron: NewCron,
    access: { assistant: RowFilter; thread: RowFilter; user_id: string | null },
  ): Promise<CronRow | undefined> {
    const values = createCron.values({
      ...cron,
      metadata: JSON.stringify(cron.metadata),
      assistant_access: access.assistant.jsonpath,
      thread_access: access.thread.jsonpath,
      user_id: access.user_id,
      per_thread: cronLimits.perThread,
      per_user: cronLimits.perUser,
      total: cronLimits.total,
    });
    const insert = db.query<CronRow>(createCron.statement, values);
    return (await insert.catch(noneIfGone))[0];
  },

  async find(cron_id: string, access: RowFilter): Promise<CronRow | undefined> {
    return (await db.query<CronRow>(statements.get, [cron_id, access.jsonpath]))[0];
  },

  /** Changes a cron as it is now: no tick comes between. Undefined when there is none. */
  update: (
    cron_id: string,
    access: RowFilter,
    change: (cron: CronRow) => CronRow,
  ): Promise<CronRow | undefined> =>
    db.transact(async (tx) => {
      const [before] = await tx.query<CronRow>(statements.lock, [cron_id, access.jsonpath]);
      if (!before) return undefined;
      const cron = change(before);
      const rows = await tx.query<CronRow>(statements.update, [
        cron_id,
        cron.schedule,
        cron.timezone,
        cron.end_time,
        cron.enabled,
        cron.payload,
        JSON.stringify(cron.metadata),
        cron.on_run_completed,
        cron.next_run_date,
      ]);
      return rows[0];
    }),

  /** False when there was none. */
  async delete(cron_id: string, access: RowFilter): Promise<boolean> {
    return (await db.query(statements.delete, [cron_id, access.jsonpath])).length > 0;
  },

  /**
   * Fires the cron that is due first: it makes its run and moves on in one transaction, so a tick is fired once, by
   * whoever was first. `plan` gets the database's time. False when none is due.
   */
  fire: (plan: (cron: CronRow, now: string) => TickPlan): Promise<boolean> =>
    db.transact(async (tx) => {
      const [due] = await tx.query<CronRow & { now: string }>(statements.due, []);
      if (!due) return false;
      const { now, ...cron } = due;
      try {
        await fireOne(tx, cron, plan(cron, now));
      } catch (error) {
        throw new TickFailed(cron.cron_id, { cause: error });
      }
      return true;
    }),

  /** A cron that cannot fire must not stand in the way of others. */
  async disable(cron_id: string, reason: string): Promise<void> {
    await db.query(statements.disable, [cron_id, reason]);
  },
});
