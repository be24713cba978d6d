// Projects: groups of trace runs in a workspace. The index is on a hash of the name, because a name may be too long for an index.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import type { Database } from '../postgres/database.ts';
import { fromExactText, toExactText } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';

export interface ProjectRow {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  /** JSON text. */
  extra: string | null;
  start_time: string;
}

const columns = 'id, tenant_id, name, description, extra, start_time';

const statements = {
  ensure: {
    name: 'projects_ensure',
    text: `insert into projects (tenant_id, id, name)
      select $1, n.id, n.name from unnest($2::uuid[], $3::text[]) n (id, name)
      where not exists (select from projects p where p.tenant_id = $1 and md5(p.name) = md5(n.name))
      order by n.name on conflict do nothing`,
  },
  named: {
    name: 'projects_named',
    text: `select ${columns} from projects where tenant_id = $1 and md5(name) in (select md5(n) from unnest($2::text[]) n)`,
  },
  create: {
    name: 'projects_create',
    text: `insert into projects (tenant_id, id, name, description, extra) select $1, $2, $3, $4, $5
      where not exists (select from trace_deletions d where d.tenant_id = $1 and d.session_id = $2)
      on conflict do nothing returning ${columns}`,
  },
  deletion: {
    name: 'projects_deletion',
    text: 'select session_id from trace_deletions where tenant_id = $1 and session_id = $2',
  },
  list: {
    name: 'projects_list',
    text: `select ${columns} from projects where tenant_id = $1 order by start_time desc, id desc limit $2 offset $3`,
  },
  delete: { name: 'projects_delete', text: 'select delete_project($1, $2) as was_there' },
  sweep: { name: 'projects_sweep', text: 'select sweep_projects($1, $2) as count' },
  find: { name: 'projects_find', text: `select ${columns} from projects where tenant_id = $1 and id = $2` },
};

/** Rolls back the creation: the trace runs of a deleted project with the same id are still being removed. */
class IdStillInUse extends Error {}

const ensureAttempts = 10;

const toProject = (row: ProjectRow): ProjectRow => ({ ...row, name: fromExactText(row.name) });

export type ProjectStorage = ReturnType<typeof projectStorage>;

export const projectStorage = (db: Database) => ({
  /** The ids of projects by name; missing projects are created. */
  ensure: (tenant_id: string, names: string[]): Promise<Map<string, string>> =>
    asTenant(db, tenant_id, async (tx) => {
      const exact = names.map(toExactText);
      // Repeated when a project is deleted between the two statements.
      for (let attempt = 1; attempt <= ensureAttempts; attempt++) {
        await tx.query(statements.ensure, [tenant_id, exact.map(() => randomUUID()), exact]);
        const rows = await tx.query<ProjectRow>(statements.named, [tenant_id, exact]);
        if (rows.length >= exact.length) return new Map(rows.map((row) => [fromExactText(row.name), row.id]));
      }
      throw new Problem(
        'unavailable',
        'Projects are being deleted while trace runs are added to them; try again',
      );
    }),

  /** Undefined when the name or the id is taken, also by a deleted project whose trace runs are still being removed. */
  async create(project: Omit<ProjectRow, 'start_time'>): Promise<ProjectRow | undefined> {
    const { tenant_id, id, name, description, extra } = project;
    try {
      return await asTenant(db, tenant_id, async (tx) => {
        const values = [tenant_id, id, toExactText(name), description, extra];
        const [row] = await tx.query<ProjectRow>(statements.create, values);
        // The insert may have waited for a deletion that its snapshot did not contain.
        if (row && (await tx.query(statements.deletion, [tenant_id, id])).length > 0)
          throw new IdStillInUse();
        return row && toProject(row);
      });
    } catch (error) {
      if (error instanceof IdStillInUse) return undefined;
      throw error;
    }
  },

  findNamed: (tenant_id: string, name: string): Promise<ProjectRow | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query<ProjectRow>(statements.named, [tenant_id, [toExactText(name)]]);
      return row && toProject(row);
    }),

  /** Returns whether it existed. `sweep` removes its trace runs. */
  async delete(tenant_id: string, id: string): Promise<boolean> {
    const values = [tenant_id, id];
    return (await db.query<{ was_there: boolean }>(statements.delete, values))[0]?.was_there === true;
  },

  /** Deletes at most `limit` trace runs of deleted projects, in this workspace or (null) in any. Returns how many. */
  async sweep(tenant_id: string | null, limit: number): Promise<number> {
    return (await db.query<{ count: number }>(statements.sweep, [tenant_id, limit]))[0]?.count ?? 0;
  },

  /** Newest first. */
  list: (tenant_id: string, limit: number, offset: number): Promise<ProjectRow[]> =>
    asTenant(db, tenant_id, async (tx) =>
      (await tx.query<ProjectRow>(statements.list, [tenant_id, limit, offset])).map(toProject),
    ),

  find: (tenant_id: string, id: string): Promise<ProjectRow | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query<ProjectRow>(statements.find, [tenant_id, id]);
      return row && toProject(row);
    }),
});
