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
  InstallationStorage,
} from '../../storage/postgres/installation.ts';
import { readSchemaState, type SchemaState } from '../../storage/schema/migrate.ts';
import { hasRestoreTable, restoreTableProblem } from '../../storage/schema/restore-table.ts';
import { SchemaConflict } from '../../storage/schema/schema-conflict.ts';
import { databaseRemedy } from '../output/database-remedy.ts';
import { duration } from '../output/quantities.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

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
