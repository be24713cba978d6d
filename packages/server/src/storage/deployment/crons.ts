// Crons, and the ticks at which they fire.
import type { Cron } from '@svc/contract';
import pg from 'pg';
import { type AnswerLimits, defaultAnswerLimits } from '../postgres/answer-limits.ts';
import { type BoundedPage, readSortedPage, type SortedPage } from '../postgres/bounded-page.ts';
import type { Database } from '../postgres/database.ts';
import { containsMetadata, everyRow, passes, type RowFilter } from '../postgres/row-filter.ts';
import { count, type Sql, sql } from '../postgres/sql.ts';
import { createRun } from './runs/run-creation.ts';
import type { NewRun } from './runs/run-rows.ts';
import { namedStatement, readStatement, statement } from '../postgres/statement.ts';

export type CronRow = Omit<Cron, 'payload' | 'metadata' | 'user_id' | 'now'> & {
  /** JSON text. */
  payload: string;
  metadata: Record<string, unknown>;
  /** The encrypted user of its runs; null for none. */
  sealed_user: string | null;
};

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

/** The run that a due tick creates, and the next tick. */
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

export const cronLimits = { thread: 100, user: 1_000, server: 10_000 };

/** What has as many crons as allowed. */
export type CronLimit = keyof typeof cronLimits;

const foreignKeyViolation = '23503';

const columns = `cron_id, assistant_id, thread_id, on_run_completed, schedule, timezone, end_time, enabled, payload, metadata,
  next_run_date, last_error, sealed_user, created_at, updated_at`;

export const statements = {
  now: readStatement<{ now: string }>('select now() as now'),
  lockCreation: statement(`select pg_advisory_xact_lock(hashtextextended('creation of crons', 0))`),
  counts: statement<
    Record<CronLimit, number>
  >(`select (select count(*)::integer from crons where thread_id = $1) as thread,
        (select count(*)::integer from crons where metadata @> jsonb_build_object('svc_auth_user_id', $2::text)) as user,
        (select count(*)::integer from crons) as server`),
  create:
    namedStatement<CronRow>(`insert into crons (cron_id, assistant_id, thread_id, on_run_completed, schedule, timezone, end_time, enabled,
        payload, metadata, next_run_date, sealed_user)
      select :cron_id, a.assistant_id, :thread_id, :on_run_completed, :schedule, :timezone, :end_time, :enabled,
        :payload, :metadata, :next_run_date, :sealed_user from assistants a
      where a.assistant_id = :assistant_id and a.metadata @@ :assistant_access::jsonpath
        and (:thread_id::uuid is null
          or exists (select 1 from threads t where t.thread_id = :thread_id and t.metadata @@ :thread_access::jsonpath))
      returning ${columns}`),
  get: readStatement<CronRow>(`select ${columns} from crons where cron_id = $1 and metadata @@ $2::jsonpath`),
  lock: statement<CronRow>(
    `select ${columns} from crons where cron_id = $1 and metadata @@ $2::jsonpath for update`,
  ),
  update:
    namedStatement<CronRow>(`update crons set schedule = :schedule, timezone = :timezone, end_time = :end_time, enabled = :enabled,
        payload = :payload, metadata = :metadata, on_run_completed = :on_run_completed, next_run_date = :next_run_date,
        last_error = null, updated_at = now()
      where cron_id = :cron_id returning ${columns}`),
  delete: statement('delete from crons where cron_id = $1 and metadata @@ $2::jsonpath returning cron_id'),
  due: statement<
    CronRow & { now: string }
  >(`select ${columns}, now() as now from crons where enabled and next_run_date <= now()
      order by next_run_date limit 1 for update skip locked`),
  tick: statement(
    'insert into cron_ticks (cron_id, scheduled_for, run_id) values ($1, $2, $3) on conflict do nothing returning cron_id',
  ),
  name: statement(
    `update threads set metadata = metadata || jsonb_build_object('cron_id', $2::text) where thread_id = $1`,
  ),
  next: statement(
    `update crons set next_run_date = $2, enabled = enabled and $3, last_error = $4 where cron_id = $1`,
  ),
  disable: statement(
    'update crons set enabled = false, last_error = $2, updated_at = now() where cron_id = $1',
  ),
  prune: statement(`delete from cron_ticks where (cron_id, scheduled_for) in (
        select cron_id, scheduled_for from cron_ticks where fired_at < now() - interval '7 days' order by fired_at limit $1)
      returning 1`),
};

export type CronStorage = ReturnType<typeof cronStorage>;

const conditions = ({ assistant_id, thread_id, enabled, metadata }: CronFilter, access: RowFilter): Sql[] => [
  ...passes(access),
  ...(assistant_id === undefined ? [] : [sql`assistant_id = ${assistant_id}`]),
  ...(thread_id === undefined ? [] : [sql`thread_id = ${thread_id}`]),
  ...(enabled === undefined ? [] : [sql`enabled = ${enabled}`]),
  ...containsMetadata(metadata),
];

/** A tick that created no run, and would create none if it were repeated. */
export class TickFailed extends Error {
  readonly cron_id: string;

  constructor(cron_id: string, options: { cause: unknown }) {
    super(`Cron ${cron_id} could not fire`, options);
    this.name = 'TickFailed';
    this.cron_id = cron_id;
  }
}

/** The thread or assistant was deleted after the statement's snapshot was taken; the foreign key detects it. */
const noneIfDeleted = (error: unknown): undefined => {
  if (error instanceof pg.DatabaseError && error.code === foreignKeyViolation) return undefined;
  throw error;
};

const reachedLimit = async (
  tx: Database,
  thread_id: string | null,
  user_id: string | null,
): Promise<CronLimit | undefined> => {
  const [counts] = await tx.query(statements.counts, [thread_id, user_id]);
  if (!counts) return undefined;
  return (['thread', 'user', 'server'] as const).find((limit) => counts[limit] >= cronLimits[limit]);
};

const fireOne = async (tx: Database, cron: CronRow, { run, next }: TickPlan): Promise<void> => {
  const made = await createRun(tx, {
    ...run,
    assistant_id: cron.assistant_id,
    create_thread: cron.thread_id === null,
    claim: false,
    leaseMs: 0,
    delayMs: 0,
    worker_id: null,
    log: 'nothing',
    keyed: false,
    access: everyRow,
    assistantAccess: everyRow,
    graphs: null,
    workerTtlMs: 0,
    answered_state_at: null,
  });
  const isMade = made.outcome === 'created';
  // With strategy `reject`, a busy thread skips the tick. A deleted thread or assistant disables the cron.
  const staysEnabled = isMade || made.outcome === 'busy';
  const deleted = made.outcome === 'no_thread' ? 'thread' : 'assistant';
  const error = isMade
    ? null
    : staysEnabled
      ? 'The thread was busy with another run'
      : `The ${deleted} was deleted`;
  if (isMade && run.thread_id !== null) await tx.query(statements.name, [run.thread_id, cron.cron_id]);
  await tx.query(statements.tick, [cron.cron_id, cron.next_run_date, isMade ? run.run_id : null]);
  await tx.query(statements.next, [cron.cron_id, next, staysEnabled, error]);
};

/** Columns of a cron in a list; JSON is text. */
const listColumns = (select: readonly string[] | undefined) => {
  const all = Object.fromEntries(columns.split(',').map((column) => [column.trim(), `r.${column.trim()}`]));
  all['metadata'] = 'r.metadata::text';
  if (select?.includes('now')) all['now'] = 'now()';
  // The owner is read from the metadata.
  const names = select && ['cron_id', ...select, ...(select.includes('user_id') ? ['metadata'] : [])];
  return Object.fromEntries(Object.entries(all).filter(([name]) => names?.includes(name) ?? true));
};
const longColumns = ['payload', 'metadata', 'sealed_user', 'last_error'];

/** A cron in a list: columns that were not selected are absent, and JSON is text. */
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

  /** Deletes old ticks; returns how many. */
  prune: async (limit: number): Promise<number> => (await db.query(statements.prune, [limit])).length,

  /** The database's clock. */
  async now(): Promise<string> {
    return (await db.query(statements.now, []))[0]?.now ?? '';
  },

  /**
   * Undefined when the assistant or the thread does not exist for the caller; the limit when it is reached. One request after the other counts and
   * inserts: at the same time, none would see the crons of the others.
   */
  create: (
    cron: NewCron,
    access: { assistant: RowFilter; thread: RowFilter; user_id: string | null },
  ): Promise<CronRow | CronLimit | undefined> =>
    db
      .transact(async (tx) => {
        await tx.query(statements.lockCreation, []);
        const reached = await reachedLimit(tx, cron.thread_id, access.user_id);
        if (reached !== undefined) return reached;
        const values = statements.create.values({
          ...cron,
          metadata: JSON.stringify(cron.metadata),
          assistant_access: access.assistant.jsonpath,
          thread_access: access.thread.jsonpath,
        });
        return (await tx.query(statements.create, values))[0];
      })
      .catch(noneIfDeleted),

  async find(cron_id: string, access: RowFilter): Promise<CronRow | undefined> {
    return (await db.query(statements.get, [cron_id, access.jsonpath]))[0];
  },

  /** Changes a cron under its lock, so that no tick fires in between. Undefined when it does not exist. */
  update: (
    cron_id: string,
    access: RowFilter,
    change: (cron: CronRow) => CronRow,
  ): Promise<CronRow | undefined> =>
    db.transact(async (tx) => {
      const [before] = await tx.query(statements.lock, [cron_id, access.jsonpath]);
      if (!before) return undefined;
      const cron = change(before);
      const values = statements.update.values({ ...cron, cron_id, metadata: JSON.stringify(cron.metadata) });
      return (await tx.query(statements.update, values))[0];
    }),

  /** False when there was none. */
  async delete(cron_id: string, access: RowFilter): Promise<boolean> {
    return (await db.query(statements.delete, [cron_id, access.jsonpath])).length > 0;
  },

  /**
   * Fires the cron that is due first: creates its run and sets its next tick in one transaction. The row lock makes sure that one node
   * fires each tick. `plan` gets the database's time. False when no cron is due.
   */
  fire: (plan: (cron: CronRow, now: string) => TickPlan): Promise<boolean> =>
    db.transact(async (tx) => {
      const [due] = await tx.query(statements.due, []);
      if (!due) return false;
      const { now, ...cron } = due;
      try {
        await fireOne(tx, cron, plan(cron, now));
      } catch (error) {
        throw new TickFailed(cron.cron_id, { cause: error });
      }
      return true;
    }),

  /** Disables a cron that cannot fire, so that it does not block others. */
  async disable(cron_id: string, reason: string): Promise<void> {
    await db.query(statements.disable, [cron_id, reason]);
  },
});
