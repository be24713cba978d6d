// Projects: where the runs of a workspace go. Their names are found by a hash: an index holds no long text.
import { randomUUID } from 'node:crypto';
import type { Database } from './database.ts';
import { fromExactText, toExactText } from './exact-text.ts';
import { asTenant } from './tenant.ts';

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
    text: `insert into projects (tenant_id, id, name, description, extra) values ($1, $2, $3, $4, $5)
      on conflict do nothing returning ${columns}`,
  },
  list: {
    name: 'projects_list',
    text: `select ${columns} from projects where tenant_id = $1 order by start_time desc, id desc limit $2 offset $3`,
  },
  find: { name: 'projects_find', text: `select ${columns} from projects where tenant_id = $1 and id = $2` },
};

const toProject = (row: ProjectRow): ProjectRow => ({ ...row, name: fromExactText(row.name) });

export type ProjectStorage = ReturnType<typeof projectStorage>;

export const projectStorage = (db: Database) => ({
  /** The ids of projects by their names; those that are missing are made. */
  ensure: (tenant_id: string, names: string[]): Promise<Map<string, string>> =>
    asTenant(db, tenant_id, async (tx) => {
      const exact = names.map(toExactText);
      await tx.query(statements.ensure, [tenant_id, exact.map(() => randomUUID()), exact]);
      const rows = await tx.query<ProjectRow>(statements.named, [tenant_id, exact]);
      return new Map(rows.map((row) => [fromExactText(row.name), row.id]));
    }),

  /** Undefined when its id or its name is taken. */
  create: (project: Omit<ProjectRow, 'start_time'>): Promise<ProjectRow | undefined> =>
    asTenant(db, project.tenant_id, async (tx) => {
      const { tenant_id, id, name, description, extra } = project;
      const values = [tenant_id, id, toExactText(name), description, extra];
      const [row] = await tx.query<ProjectRow>(statements.create, values);
      return row && toProject(row);
    }),

  findNamed: (tenant_id: string, name: string): Promise<ProjectRow | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query<ProjectRow>(statements.named, [tenant_id, [toExactText(name)]]);
      return row && toProject(row);
    }),

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
