// The database can be reached and takes writes, its clock, the connections that it allows, and its schema.
import { Problem } from '@svc/contract/problem';
import {
  type ConnectionLimits,
  connectionsToPooler,
  type NodeProcesses,
  planConnections,
} from '../../storage/postgres/connection-plan.ts';
import type { Database } from '../../storage/postgres/database.ts';
import type {
  ConnectionUse,
  DatabaseFacts,
  DatabaseRights,
  InstallationStorage,
} from '../../storage/postgres/installation.ts';
import { readSchemaState, SchemaConflict, type SchemaState } from '../../storage/schema/migrate.ts';
import { hasRestoreTable, restoreTableProblem } from '../../storage/schema/restore-table.ts';
import { databaseRemedy } from '../output/explain.ts';
import { duration } from '../output/quantities.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';
import { originalError } from '../../storage/postgres/sql-state.ts';
import type { ReplicaFacts } from '../../storage/replica/replica-facts.ts';

export const factsOutcome = ({ version, user, database, read_only }: DatabaseFacts): Outcome => {
  const server = `PostgreSQL ${version}, database ${database}, user ${user}`;
  return read_only
    ? problem(
        `${server}: the server is read-only.`,
        'It may be a standby: name the primary, or add target_session_attrs=read-write and all hosts to DATABASE_URI.',
      )
    : ok(`${server}: reachable and writable.`);
};

/** Of the connection of SVC_DATABASE_LISTEN_URI, by the result of its check. */
export const directOutcome = async (checked: Promise<void>): Promise<Outcome> => {
  try {
    await checked;
    return ok('SVC_DATABASE_LISTEN_URI keeps its session, and receives the notifications of DATABASE_URI.');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return problem(
      `${error.message}.`,
      'Point SVC_DATABASE_LISTEN_URI to PostgreSQL itself, and to the database of DATABASE_URI.',
    );
  }
};

/** Messages of `openDatabase` say what is wrong. They contain no password. */
export const unreachableOutcome = (error: unknown): Outcome => {
  if (!(error instanceof Problem)) throw error;
  return problem(`${error.message}.`, databaseRemedy(error.message));
};

const warningMs = 5_000;
/** S3 refuses signatures that are 15 minutes off. */
const problemMs = 900_000;

/**
 * svc uses the clock of the database for leases and schedules; signatures for buckets, tokens and the times of traces depend on the clock of
 * this machine. `now`: the clock of this machine.
 */
export const checkClock = async (
  database: Pick<InstallationStorage, 'nowMs'>,
  now: () => number = Date.now,
): Promise<Outcome> => {
  const before = now();
  const databaseMs = await database.nowMs();
  const after = now();
  // The database has read its clock between the two.
  const aheadMs = before > databaseMs ? before - databaseMs : Math.min(0, after - databaseMs);
  const message = `The clock of this machine is ${duration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of the database.`;
  const remedy = 'Synchronize the clocks of both machines, for example with chrony or systemd-timesyncd.';
  if (Math.abs(aheadMs) >= problemMs) return problem(message, remedy);
  if (Math.abs(aheadMs) >= warningMs) return warning(message, remedy);
  return ok(`The clocks of this machine and of the database differ by less than ${warningMs / 1_000} s.`);
};

/** Above this part of the allowed connections, a warning. */
const fullPart = 0.9;

export const connectionsOutcome = (
  node: NodeProcesses,
  limits: ConnectionLimits,
  { max_connections, in_use }: ConnectionUse,
): Outcome => {
  const { allowed, others } = limits;
  const facts = `The database allows ${allowed} connections (max_connections is ${max_connections}), and ${in_use} are in use. Running servers have planned up to ${others}.`;
  try {
    const { total, warning: advice } = planConnections(node, limits);
    const message = `${facts} A server with these settings uses up to ${total}.`;
    if (in_use > allowed * fullPart)
      return warning(
        message,
        'Raise max_connections, or look in pg_stat_activity for the users of the connections.',
      );
    return advice === undefined ? ok(message) : warning(message, `For one more server: ${advice}.`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return problem(facts, `${error.message}.`);
  }
};

/** The limits of a pooler are not visible from here. */
export const pooledConnectionsOutcome = (
  node: NodeProcesses,
  { max_connections, in_use }: ConnectionUse,
): Outcome =>
  ok(
    `PostgreSQL allows ${max_connections} connections, and ${in_use} are in use. A server with these settings opens up to ${connectionsToPooler(node)} ` +
      'connections to the pooler, which its max_client_conn must allow, and one to PostgreSQL.',
  );

/** Compares the schema with this program. */
export const checkSchemaState = async (db: Database): Promise<Outcome> => {
  if (await hasRestoreTable(db)) return problem(restoreTableProblem.what, `${restoreTableProblem.remedy}.`);
  try {
    return outcomeOf(await readSchemaState(db));
  } catch (error) {
    if (!(error instanceof SchemaConflict)) throw error;
    return problem(`${error.what}.`, `${error.remedy}.`);
  }
};

const outcomeOf = ({ isEmpty, migrations, functions, contract, newer }: SchemaState): Outcome => {
  if (isEmpty) return ok('There is no schema yet; the first start or svc migrate creates it.');
  const missing = [...migrations, ...(functions ? ['functions'] : [])];
  if (missing.length > 0)
    return warning(
      `The schema is older than this program. Missing: ${missing.join(', ')}.`,
      'Run svc migrate, or start a server of this release, which does the same.',
    );
  if (newer.length > 0)
    return warning(
      `The schema is newer than this program, which can still use it. Unknown: ${newer.join(', ')}.`,
      'Upgrade this installation to the release of the other servers.',
    );
  if (contract.length > 0)
    return ok(
      `The schema is up to date. When all servers of earlier releases have stopped, svc migrate --contract removes what only they use (${contract.join(', ')}).`,
    );
  return ok('The schema is up to date.');
};

// The rights of the database user: migrations and daily partitions need to create and change tables.

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

// The replica of SVC_DATABASE_REPLICA_URI can be read, and follows the database of DATABASE_URI.

const replicaVariable = 'SVC_DATABASE_REPLICA_URI';

/** By the result of `readReplicaFacts`. `lagMaxMs`: the largest lag with which servers read the replica. */
export const replicaOutcome = async (facts: Promise<ReplicaFacts>, lagMaxMs: number): Promise<Outcome> => {
  try {
    return standbyOutcome(await facts, lagMaxMs);
  } catch (error) {
    return failureOf(error);
  }
};

const standbyOutcome = (facts: ReplicaFacts, lagMaxMs: number): Outcome => {
  const server = `PostgreSQL ${facts.version} of ${replicaVariable}`;
  if (!facts.is_standby)
    return problem(
      `${server} is no standby. Servers read from the primary.`,
      `Point ${replicaVariable} to a hot standby of DATABASE_URI.`,
    );
  if (!facts.is_same_cluster)
    return problem(
      `${server} is a standby of another PostgreSQL, or its URI names another database. Servers read from the primary.`,
      `Point ${replicaVariable} to a hot standby of DATABASE_URI, and to the same database.`,
    );
  if (!facts.has_schema)
    return problem(
      `${server} has no schema svc.`,
      'Start a server or run svc migrate, and check the replication.',
    );
  if (!facts.is_same_timeline)
    return warning(
      `${server} is on another timeline than the primary. Servers read from the primary.`,
      'After a failover this lasts until the next checkpoint. If it remains, the standby does not follow the new primary: create it anew.',
    );
  if (facts.replayed_after_ms === undefined)
    return warning(
      `${server} is ${facts.bytes_behind} bytes behind, and has not replayed them in ${lagMaxMs / 1_000} s. Servers read from the primary.`,
      'Check that the replay is not paused, the load of the standby and its network, and pg_stat_replication of the primary.',
    );
  return ok(
    `${server} is a standby of the primary. It had replayed the position of the primary after ${facts.replayed_after_ms} ms.`,
  );
};

const insufficientPrivilege = '42501';

const failureOf = (error: unknown): Outcome => {
  const cause = originalError(error);
  const { code, message } = cause as { code?: unknown; message: string };
  if (code === insufficientPrivilege)
    return problem(
      `The user of the database may not read positions (${message}). Servers read from the primary.`,
      'Grant EXECUTE on the functions pg_control_system() and pg_control_checkpoint() to the user.',
    );
  if (!(error instanceof Problem)) throw error;
  return problem(
    `${replicaVariable} cannot be used: ${message}. Servers read from the primary.`,
    `Check host and port, that a hot standby of DATABASE_URI runs there, and that pg_hba.conf allows the connection.`,
  );
};
