// Assistants and their versions. The row of an assistant holds a copy of its current version.
import { defaultAnswerLimits } from '../../postgres/answer-limits.ts';
import type { Database } from '../../postgres/database.ts';
import { everyRow, type RowFilter } from '../../postgres/row-filter.ts';
import { assistantColumns, type AssistantRow } from './assistant-rows.ts';
import { assistantSearches } from './assistant-search.ts';
import { namedStatement, readStatement, statement } from '../../postgres/statement.ts';

export type NewAssistant = Omit<AssistantRow, 'version' | 'created_at' | 'updated_at'>;

export type AssistantPatch = Partial<
  Pick<NewAssistant, 'graph_id' | 'name' | 'description' | 'config' | 'context' | 'metadata'>
>;

/** A default assistant whose graph no worker executes, and what would be deleted with it. */
export interface UnservedDefault {
  assistant_id: string;
  graph_id: string;
  crons: number;
  /** Ended runs; exact up to 10,000. */
  runs: number;
  /** Pending and running runs. */
  in_flight: number;
}

const columns = assistantColumns.join(', ');
const versioned = 'assistant_id, version, graph_id, name, description, config, context, metadata';

/** `default`: only `svc assistants prune` deletes a default assistant. `in_flight`: it has runs that have not ended. */
export type DeletionObstacle = 'default' | 'in_flight';

/** Most assistants of one user, and most versions of one assistant. */
export const assistantLimits = { perUser: 1_000, versions: 10_000 };

export const statements = {
  lockUser: statement(`select pg_advisory_xact_lock(hashtextextended('assistants of ' || $1, 0))`),
  ofUser: statement<{ count: number }>(`select count(*)::integer as count from (
        select 1 from assistants where metadata @> jsonb_build_object('svc_auth_user_id', $1::text) limit $2) owned`),
  create: statement<AssistantRow>(`with created as (
        insert into assistants (assistant_id, graph_id, name, description, config, context, metadata, is_default)
        values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (assistant_id) do nothing returning ${columns}
      ), version as (
        insert into assistant_versions (${versioned}) select ${versioned} from created
      )
      select ${columns} from created`),
  get: readStatement<AssistantRow>(
    `select ${columns} from assistants where assistant_id = $1 and metadata @@ $2::jsonpath`,
  ),
  lock: statement<LockedAssistant>(`select description, is_default,
        (select max(v.version) from assistant_versions v where v.assistant_id = a.assistant_id) as newest_version
      from assistants a where assistant_id = $1 and metadata @@ $2::jsonpath for update`),
  // Null keeps the current value; metadata is merged.
  update: namedStatement<AssistantRow>(`with updated as (
        update assistants a set graph_id = coalesce(:graph_id, a.graph_id), name = coalesce(:name, a.name),
          description = case when :has_description then :description else a.description end,
          config = coalesce(:config::jsonb, a.config), context = coalesce(:context::jsonb, a.context),
          metadata = a.metadata || coalesce(:metadata::jsonb, '{}'),
          version = (select max(v.version) + 1 from assistant_versions v where v.assistant_id = :assistant_id), updated_at = now()
        where a.assistant_id = :assistant_id
          and (a.metadata || coalesce(:metadata::jsonb, '{}')) @@ :access::jsonpath returning a.*
      ), version as (
        insert into assistant_versions (${versioned}) select ${versioned} from updated
      )
      select ${columns} from updated`),
  reset: statement(`with reset as (
        update assistants a set graph_id = $2, name = $3, description = $4, config = $5, context = $6, metadata = $7,
          version = (select max(v.version) + 1 from assistant_versions v where v.assistant_id = $1), updated_at = now()
        where a.assistant_id = $1 and a.metadata ? $8 returning a.*
      ), version as (
        insert into assistant_versions (${versioned}) select ${versioned} from reset
      )
      select assistant_id from reset`),
  latest:
    statement<AssistantRow>(`update assistants a set graph_id = v.graph_id, name = v.name, description = v.description, config = v.config,
        context = v.context, metadata = v.metadata, version = v.version, updated_at = now()
      from assistant_versions v
      where a.assistant_id = $1 and a.metadata @@ $3::jsonpath and v.assistant_id = $1 and v.version = $2
        and v.metadata @@ $3::jsonpath returning ${assistantColumns.map((column) => `a.${column}`).join(', ')}`),
  delete:
    statement(`delete from assistants a where a.assistant_id = $1 and a.metadata @@ $2::jsonpath and not a.is_default
      and not exists (select 1 from runs r where r.assistant_id = $1 and r.status in ('pending', 'running'))
      returning assistant_id`),
  obstacle: readStatement<{ obstacle: DeletionObstacle | null }>(`select case when a.is_default then 'default'
        when exists (select 1 from runs r where r.assistant_id = $1 and r.status in ('pending', 'running')) then 'in_flight' end as obstacle
      from assistants a where a.assistant_id = $1`),
  mark: statement(
    'update assistants set is_default = true where assistant_id = any ($1::uuid[]) and not is_default',
  ),
  descriptions: readStatement<Pick<AssistantRow, 'assistant_id' | 'description'>>(
    `select assistant_id, description from assistants where assistant_id = any ($1::uuid[]) and not metadata ? $2`,
  ),
  unserved: readStatement<UnservedDefault>(`select a.assistant_id, a.graph_id,
        (select count(*)::integer from crons c where c.assistant_id = a.assistant_id) as crons,
        (select count(*)::integer from (
          select 1 from runs r where r.assistant_id = a.assistant_id and r.status not in ('pending', 'running') limit 10001) s) as runs,
        (select count(*)::integer from (
          select 1 from runs r where r.assistant_id = a.assistant_id and r.status in ('pending', 'running') limit 10001) s) as in_flight
      from assistants a
      where a.is_default and not is_graph_served(a.graph_id, $1 * interval '1 ms', false)
      order by a.graph_id, a.assistant_id limit $2`),
  prune: statement<{ outcome: 'deleted' | 'missing' | 'served' | 'in_flight' }>(
    `select prune_default_assistant($1, $2 * interval '1 ms') as outcome`,
  ),
};

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value));

const fieldsOf = ({ assistant_id, graph_id, name, description, ...rest }: NewAssistant) => [
  assistant_id,
  graph_id,
  name,
  description,
  json(rest.config),
  json(rest.context),
  json(rest.metadata),
];

interface LockedAssistant {
  description: string | null;
  is_default: boolean;
  newest_version: number;
}

/** Locks the row in a statement of its own: a statement that waits for the lock would compute the version from an old snapshot. */
const update = (
  db: Database,
  assistant_id: string,
  patch: AssistantPatch,
  access: RowFilter,
  shouldUpdate: (locked: LockedAssistant) => boolean,
): Promise<AssistantRow | 'full' | undefined> =>
  db.transact(async (tx) => {
    const [locked] = await tx.query(statements.lock, [assistant_id, access.jsonpath]);
    if (!locked || !shouldUpdate(locked)) return undefined;
    if (locked.newest_version >= assistantLimits.versions) return 'full';
    const { graph_id, name, description, config, context, metadata } = patch;
    const values = statements.update.values({
      assistant_id,
      graph_id: graph_id ?? null,
      name: name ?? null,
      has_description: description !== undefined,
      description: description ?? null,
      config: json(config),
      context: json(context),
      metadata: json(metadata),
      access: access.jsonpath,
    });
    return (await tx.query(statements.update, values))[0];
  });

const defaults = (db: Database) => ({
  /** Marks assistants as default assistants of their graphs. */
  async markDefaults(assistant_ids: readonly string[]): Promise<void> {
    await db.query(statements.mark, [assistant_ids]);
  },

  /** Descriptions of the assistants that exist and have no key `withoutKey` in their metadata, by id. */
  async descriptions(
    assistant_ids: readonly string[],
    withoutKey: string,
  ): Promise<ReadonlyMap<string, string | null>> {
    const rows = await db.query(statements.descriptions, [assistant_ids, withoutKey]);
    return new Map(rows.map(({ assistant_id, description }) => [assistant_id, description]));
  },

  /** Default assistants whose graphs no worker has executed within this time. */
  unserved: (withinMs: number, limit: number): Promise<UnservedDefault[]> =>
    db.query(statements.unserved, [withinMs, limit]),

  /** Deletes a default assistant with its crons and ended runs, unless it is in use. */
  async prune(
    assistant_id: string,
    withinMs: number,
  ): Promise<'deleted' | 'missing' | 'served' | 'in_flight'> {
    const [row] = await db.query(statements.prune, [assistant_id, withinMs]);
    return row?.outcome ?? 'missing';
  },
});

export const assistantStorage = (db: Database, answers = defaultAnswerLimits) => ({
  ...defaults(db),
  ...assistantSearches(db, answers),

  /**
   * Returns the new row, undefined when the id is taken, or `full` when the user, its owner, has as many as allowed. `isDefault`: it is the
   * default assistant of its graph.
   */
  async create(
    assistant: NewAssistant,
    { isDefault = false, user_id }: { isDefault?: boolean; user_id?: string | undefined } = {},
  ): Promise<AssistantRow | 'full' | undefined> {
    const insert = async (tx: Database): Promise<AssistantRow | undefined> =>
      (await tx.query(statements.create, [...fieldsOf(assistant), isDefault]))[0];
    if (user_id === undefined) return insert(db);
    // Counted under a lock: of two requests at the same time, neither would see the assistant of the other.
    return db.transact(async (tx) => {
      await tx.query(statements.lockUser, [user_id]);
      const [owned] = await tx.query(statements.ofUser, [user_id, assistantLimits.perUser]);
      return (owned?.count ?? 0) >= assistantLimits.perUser ? 'full' : insert(tx);
    });
  },

  async find(assistant_id: string, access: RowFilter): Promise<AssistantRow | undefined> {
    return (await db.query(statements.get, [assistant_id, access.jsonpath]))[0];
  },

  /**
   * Creates a new version. Undefined when there is no such assistant, or its new metadata would not pass the filter; `full` when it has as many
   * versions as allowed.
   */
  update: (
    assistant_id: string,
    patch: AssistantPatch,
    access: RowFilter,
  ): Promise<AssistantRow | 'full' | undefined> => update(db, assistant_id, patch, access, () => true),

  /** Creates a new version only when the description differs: of several servers that start at the same time, one creates it. */
  async describe(assistant_id: string, description: string | null): Promise<void> {
    await update(db, assistant_id, { description }, everyRow, (locked) => locked.description !== description);
  },

  /** Replaces all fields in a new version, if the metadata has the key `ifKey`. */
  async reset(assistant: NewAssistant, ifKey: string): Promise<void> {
    await db.query(statements.reset, [...fieldsOf(assistant), ifKey]);
  },

  async setLatest(
    assistant_id: string,
    version: number,
    access: RowFilter,
  ): Promise<AssistantRow | undefined> {
    const values = [assistant_id, version, access.jsonpath];
    return (await db.query(statements.latest, values))[0];
  },

  /** Locks the row in a statement of its own: a statement that waits for a run to be created would not see that run. */
  delete: (assistant_id: string, access: RowFilter): Promise<'deleted' | 'missing' | DeletionObstacle> =>
    db.transact(async (tx) => {
      const values = [assistant_id, access.jsonpath];
      const [locked] = await tx.query(statements.lock, values);
      if (!locked) return 'missing';
      if (locked.is_default) return 'default';
      return (await tx.query(statements.delete, values)).length > 0 ? 'deleted' : 'in_flight';
    }),

  /** Why an existing assistant cannot be deleted now; undefined when it can. */
  async deletionObstacle(assistant_id: string): Promise<DeletionObstacle | undefined> {
    const [row] = await db.query(statements.obstacle, [assistant_id]);
    return row?.obstacle ?? undefined;
  },
});
