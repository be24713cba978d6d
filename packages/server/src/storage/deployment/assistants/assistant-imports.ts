// Assistants of another server, stored with their ids, versions and times.
import type { Database } from '../../postgres/database.ts';
import type { AssistantRow } from './assistant-rows.ts';
import { readStatement, statement } from '../../postgres/statement.ts';

/** A version of an assistant. */
export type AssistantVersionImport = Omit<AssistantRow, 'updated_at'>;

export interface AssistantImport extends AssistantRow {
  is_default: boolean;
  versions: AssistantVersionImport[];
}

/** `completed`: the default assistant of a graph existed as this server had created it, and has got the versions. */
export type AssistantOutcome = 'imported' | 'completed' | 'exists';

const columns = 'graph_id, name, description, config, context, metadata, version, created_at, updated_at';

export const statements = {
  create: statement(`insert into assistants (assistant_id, is_default, ${columns})
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (assistant_id) do nothing returning assistant_id`),
  // A default assistant that nobody has changed.
  lockUnchanged:
    statement(`select assistant_id from assistants where assistant_id = $1 and version = 1 and graph_id = $2
      and metadata @> '{"created_by":"system"}' for update`),
  countVersions: statement<{ versions: number }>(
    'select count(*)::integer as versions from assistant_versions where assistant_id = $1',
  ),
  complete:
    statement(`update assistants set name = $2, description = $3, config = $4, context = $5, metadata = $6, version = $7, updated_at = $8
      where assistant_id = $1`),
  versions:
    statement(`insert into assistant_versions (assistant_id, version, graph_id, name, description, config, context, metadata, created_at)
      select v.assistant_id, v.version, v.graph_id, v.name, v.description, v.config, v.context, v.metadata, v.created_at
      from json_to_recordset($1::json) as v(assistant_id uuid, version integer, graph_id text, name text, description text,
        config jsonb, context jsonb, metadata jsonb, created_at timestamptz)
      on conflict do nothing`),
  existing: readStatement<{ assistant_id: string }>(
    'select assistant_id from assistants where assistant_id = any ($1::uuid[])',
  ),
};

const json = (value: unknown): string => JSON.stringify(value ?? null);

export const assistantImportStorage = (db: Database) => ({
  import: (given: AssistantImport): Promise<AssistantOutcome> =>
    db.transact(async (tx) => {
      const { assistant_id, graph_id, name, description, version, created_at, updated_at, versions } = given;
      const [config, context, metadata] = [json(given.config), json(given.context), json(given.metadata)];
      const created = await tx.query(statements.create, [
        assistant_id,
        given.is_default,
        graph_id,
        name,
        description,
        config,
        context,
        metadata,
        version,
        created_at,
        updated_at,
      ]);
      if (created.length === 0) {
        const isUnchanged = given.is_default && versions.length > 1 && (await isUntouched(tx, given));
        if (!isUnchanged) return 'exists';
        const values = [assistant_id, name, description, config, context, metadata, version, updated_at];
        await tx.query(statements.complete, values);
      }
      await tx.query(statements.versions, [JSON.stringify(versions)]);
      return created.length === 0 ? 'completed' : 'imported';
    }),

  /** Which of these ids are taken. */
  async listExisting(assistant_ids: string[]): Promise<string[]> {
    const rows = await db.query(statements.existing, [assistant_ids]);
    return rows.map((row) => row.assistant_id);
  },
});

const isUntouched = async (tx: Database, { assistant_id, graph_id }: AssistantImport): Promise<boolean> => {
  if ((await tx.query(statements.lockUnchanged, [assistant_id, graph_id])).length === 0) return false;
  const [row] = await tx.query(statements.countVersions, [assistant_id]);
  return row?.versions === 1;
};
