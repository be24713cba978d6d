// Projects: groups of trace runs in a workspace. The index is on a hash of the name, because a name may be too long for an index.
import type { Project } from '@svc/contract';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Problem } from '@svc/contract/problem';
import type { Database } from '../postgres/database.ts';
import { exactTime, fromExactText, toExactText } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import { statement } from '../postgres/statement.ts';

/** `extra` is JSON text. */
export type ProjectRow = Omit<Project, 'extra' | 'reference_dataset_id'> & { extra: string | null };

export interface ProjectFilter {
  ids?: string[] | undefined;
  name?: string | undefined;
  name_contains?: string | undefined;
  /** Whether it is the project of an address. */
  isAgent?: boolean | null;
}

/** A position in the order of (start_time, id); the time has microseconds. */
export interface Place {
  start_time: string;
  id: string;
}

export interface FoundProject {
  row: ProjectRow;
  exact_start: string;
}

const columns = 'id, tenant_id, name, description, extra, start_time';

export const statements = {
  ensure: statement(`insert into projects (tenant_id, id, name)
      select $1, n.id, n.name from unnest($2::uuid[], $3::text[]) n (id, name)
      where not exists (select from projects p where p.tenant_id = $1 and md5(p.name) = md5(n.name))
      order by n.name on conflict do nothing`),
  named: statement<ProjectRow>(
    `select ${columns} from projects where tenant_id = $1 and md5(name) in (select md5(n) from unnest($2::text[]) n)`,
  ),
  create:
    statement<ProjectRow>(`insert into projects (tenant_id, id, name, description, extra) select $1, $2, $3, $4, $5
      where not exists (select from trace_deletions d where d.tenant_id = $1 and d.session_id = $2)
      on conflict do nothing returning ${columns}`),
  deletion: statement('select session_id from trace_deletions where tenant_id = $1 and session_id = $2'),
  change:
    statement<ProjectRow>(`update projects p set name = coalesce($3, name), description = coalesce($4, description), extra = coalesce($5, extra)
      where tenant_id = $1 and id = $2
        and not exists (select from projects o where o.tenant_id = $1 and md5(o.name) = md5($3) and o.id <> $2) returning ${columns}`),
  search: {
    text: `select ${columns}, ${exactTime('start_time')} as exact_start from projects where tenant_id = $1
      and ($2::uuid[] is null or id = any ($2)) and ($3::text is null or md5(name) = md5($3))
      and ($4::text is null or position($4 in name) > 0)
      and ($5::boolean is null or starts_with(name, 'lrn:agents/') = $5)
      and ($6::timestamptz is null or (start_time, id) < ($6, $7::uuid))
      order by start_time desc, id desc limit $8 offset $9`,
  },
  // sweep_projects() deletes the trace runs.
  delete: statement<{ was_there: boolean }>(`with gone as (
        delete from projects where tenant_id = $1 and id = $2 returning tenant_id, id
      ), noted as (
        insert into trace_deletions (tenant_id, session_id) select tenant_id, id from gone on conflict do nothing
      )
      select exists (select from gone) as was_there`),
  sweep: statement<{ count: number }>('select sweep_projects($1, $2) as count'),
  find: statement<ProjectRow>(`select ${columns} from projects where tenant_id = $1 and id = $2`),
};

/** Rolls back the creation: the trace runs of a deleted project with the same id are still being removed. */
class IdStillInUse extends Error {}

const ensureAttempts = 10;
const uniqueViolation = '23505';

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
        const rows = await tx.query(statements.named, [tenant_id, exact]);
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
        const [row] = await tx.query(statements.create, values);
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
      const [row] = await tx.query(statements.named, [tenant_id, [toExactText(name)]]);
      return row && toProject(row);
    }),

  /** Returns whether it existed. `sweep` removes its trace runs. */
  async delete(tenant_id: string, id: string): Promise<boolean> {
    const values = [tenant_id, id];
    return (await db.query(statements.delete, values))[0]?.was_there === true;
  },

  /** Deletes at most `limit` trace runs of deleted projects, in this workspace or (null) in any. Returns how many. */
  async sweep(tenant_id: string | null, limit: number): Promise<number> {
    return (await db.query(statements.sweep, [tenant_id, limit]))[0]?.count ?? 0;
  },

  /** Newest first. */
  search: (
    tenant_id: string,
    of: ProjectFilter,
    { after, limit, offset }: { after?: Place | null; limit: number; offset?: number },
  ): Promise<FoundProject[]> =>
    asTenant(db, tenant_id, async (tx) => {
      const { ids = null, name, name_contains, isAgent = null } = of;
      const texts = [name, name_contains].map((text) => (text === undefined ? null : toExactText(text)));
      const place = [after?.start_time ?? null, after?.id ?? null];
      const values = [tenant_id, ids, ...texts, isAgent, ...place, limit, offset ?? 0];
      const rows = await tx.query<ProjectRow & { exact_start: string }>(statements.search, values);
      return rows.map(({ exact_start, ...row }) => ({ row: toProject(row), exact_start }));
    }),

  /** Changes the fields that are not null. Undefined when it does not exist, or another project has the name. */
  async change(
    tenant_id: string,
    id: string,
    change: Pick<ProjectRow, 'description' | 'extra'> & { name: string | null },
  ): Promise<ProjectRow | undefined> {
    const name = change.name === null ? null : toExactText(change.name);
    const values = [tenant_id, id, name, change.description, change.extra];
    try {
      return await asTenant(db, tenant_id, async (tx) => {
        const [row] = await tx.query(statements.change, values);
        return row && toProject(row);
      });
    } catch (error) {
      // A project with the name was created meanwhile.
      if (error instanceof pg.DatabaseError && error.code === uniqueViolation) return undefined;
      throw error;
    }
  },

  find: (tenant_id: string, id: string): Promise<ProjectRow | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query(statements.find, [tenant_id, id]);
      return row && toProject(row);
    }),
});
