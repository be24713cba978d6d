// Workspaces, which isolate traces, keys and exports from each other.
import type { Database } from '../postgres/database.ts';
import { readStatement, statement } from '../postgres/statement.ts';

export interface WorkspaceRow {
  id: string;
  display_name: string;
  created_at: string;
}

const columns = 'id, display_name, created_at';

export const statements = {
  create: statement<WorkspaceRow>(
    `insert into workspaces (id, display_name) values ($1, $2) on conflict (id) do nothing returning ${columns}`,
  ),
  list: readStatement<WorkspaceRow>(
    `select ${columns} from workspaces where $1::uuid[] is null or id = any ($1) order by created_at, id limit 1000`,
  ),
  oldest: statement<WorkspaceRow>(
    `select ${columns} from workspaces where display_name = $1 order by created_at, id limit 1`,
  ),
  bind: statement(
    'insert into api_key_workspaces (key_id, tenant_id) values ($1, $2) on conflict do nothing',
  ),
};

export type WorkspaceStorage = ReturnType<typeof workspaceStorage>;

export const workspaceStorage = (db: Database) => ({
  /** Creates a workspace and gives the key `key_id` access to it. Undefined when the id is taken. */
  create: (
    { id, display_name }: Pick<WorkspaceRow, 'id' | 'display_name'>,
    key_id?: string,
  ): Promise<WorkspaceRow | undefined> =>
    db.transact(async (tx) => {
      const [row] = await tx.query(statements.create, [id, display_name]);
      if (row && key_id !== undefined) await tx.query(statements.bind, [key_id, id]);
      return row;
    }),

  /** The oldest workspace with this name. */
  oldestNamed: async (display_name: string): Promise<WorkspaceRow | undefined> =>
    (await db.query(statements.oldest, [display_name]))[0],

  /** Up to 1,000 workspaces: those with these ids, or all. */
  list: (ids: string[] | null): Promise<WorkspaceRow[]> => db.query(statements.list, [ids]),
});
