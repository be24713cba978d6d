// The rights of the database user: migrations and daily partitions need to create and change tables.
import type { DatabaseRights } from '../../storage/postgres/installation.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

export const rightsOutcomes = (rights: DatabaseRights, user: string): Outcome[] => {
  const outcomes = [...schemaOutcomes(rights, user), ...tenantOutcomes(rights, user)];
  return outcomes.length > 0 ? outcomes : [ok(`The database user ${user} has all rights that svc needs.`)];
};

const schemaOutcomes = (
  { has_schema, create_in_database, create_in_schema, foreign_tables }: DatabaseRights,
  user: string,
): Outcome[] => {
  if (!has_schema)
    return create_in_database
      ? []
      : [
          problem(
            `The database user ${user} may not create the schema svc.`,
            `As an administrator: CREATE SCHEMA svc AUTHORIZATION "${user}";`,
          ),
        ];
  const outcomes: Outcome[] = [];
  if (create_in_schema !== true)
    outcomes.push(
      problem(
        `The database user ${user} may not create tables in the schema svc, which migrations and each new day of traces need.`,
        `As an administrator: ALTER SCHEMA svc OWNER TO "${user}";`,
      ),
    );
  if (foreign_tables !== null)
    outcomes.push(
      problem(
        `The database user ${user} does not own all tables of the schema svc: ${foreign_tables}.`,
        `As an administrator, make it the owner, or a member of the role that owns them: GRANT owner TO "${user}";`,
      ),
    );
  return outcomes;
};

const tenantOutcomes = (
  { has_schema, has_tenant_role, can_create_role, has_policies }: DatabaseRights,
  user: string,
): Outcome[] => {
  if (has_tenant_role && has_policies === false)
    return [
      warning(
        `The database user ${user} is a member of the role svc_tenant, and the tables have no row level security, because the role was created after the schema. The statements of svc alone separate workspaces.`,
        'Stop the servers, svc backup, and svc restore into a new database, which creates the policies.',
      ),
    ];
  // The migration that needs the role has been applied, or will create it.
  if (has_tenant_role || (!has_schema && can_create_role)) return [];
  return [
    warning(
      `The database user ${user} is not a member of the role svc_tenant, so row level security does not separate workspaces; the statements of svc alone do.`,
      has_schema
        ? `To switch it on: stop the servers, svc backup, as an administrator CREATE ROLE svc_tenant NOLOGIN; GRANT svc_tenant TO "${user}"; and svc restore into a new database.`
        : `As an administrator, before the first start: CREATE ROLE svc_tenant NOLOGIN; GRANT svc_tenant TO "${user}";`,
    ),
  ];
};
