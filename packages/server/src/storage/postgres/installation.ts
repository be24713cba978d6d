// What an operator wants to know about the database: its version, clock, connections, and the rights of the user.
import type { Database } from './database.ts';
import { type Statement, readStatement } from './statement.ts';

export interface DatabaseFacts {
  version: string;
  user: string;
  database: string;
  read_only: boolean;
}

export interface ConnectionUse {
  max_connections: number;
  /** Connections of all users to all databases, without background processes. */
  in_use: number;
}

export interface DatabaseRights {
  /** The schema svc exists. */
  has_schema: boolean;
  /** May create the schema. */
  create_in_database: boolean;
  /** May create tables in the schema; null without a schema. */
  create_in_schema: boolean | null;
  /** Tables of the schema that the user does not own, in a few words; null when it owns all. */
  foreign_tables: string | null;
  /** The role svc_tenant exists, and the user is a member. */
  has_tenant_role: boolean;
  can_create_role: boolean;
  /** Row level security is on; null without a schema. */
  has_policies: boolean | null;
}

export const statements = {
  facts:
    readStatement<DatabaseFacts>(`select current_setting('server_version') as version, current_user::text as user, current_database()::text as database,
      current_setting('transaction_read_only') = 'on' as read_only`),
  clock: readStatement<{ now_ms: number }>(
    `select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms`,
  ),
  // The backend_type of other users is hidden from a user without the role pg_read_all_stats.
  connections:
    readStatement<ConnectionUse>(`select current_setting('max_connections')::integer as max_connections,
      (select sum(numbackends)::integer from pg_stat_database where datid <> 0) as in_use`),
  rights: readStatement<DatabaseRights>(`select n.oid is not null as has_schema,
        has_database_privilege(current_database(), 'create') as create_in_database,
        has_schema_privilege(n.oid, 'create') and has_schema_privilege(n.oid, 'usage') as create_in_schema,
        (select string_agg(t.relname, ', ' order by t.relname)
         from (select c.relname from pg_class c
           where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v') and not pg_has_role(c.relowner, 'usage')
           order by c.relname limit 3) t) as foreign_tables,
        exists (select from pg_roles r where r.rolname = 'svc_tenant' and pg_has_role(r.oid, 'member')) as has_tenant_role,
        exists (select from pg_roles r where r.rolname = current_user and (r.rolsuper or r.rolcreaterole)) as can_create_role,
        (select c.relrowsecurity from pg_class c where c.relnamespace = n.oid and c.relname = 'trace_runs') as has_policies
      from (select) one left join pg_namespace n on n.nspname = 'svc'`),
};

export type InstallationStorage = ReturnType<typeof installationStorage>;

export const installationStorage = (db: Database) => {
  const one = async <Row>(statement: Statement<Row>): Promise<Row> =>
    (await db.query(statement, []))[0] as Row;
  return {
    facts: () => one(statements.facts),

    /** Milliseconds since 1970 by the clock of the database. */
    async nowMs(): Promise<number> {
      return (await one(statements.clock)).now_ms;
    },

    connections: () => one(statements.connections),

    rights: () => one(statements.rights),
  };
};
