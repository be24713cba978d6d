// The replica of SVC_DATABASE_REPLICA_URI can be read, and follows the database of DATABASE_URI.
import { Problem } from '@svc/contract/problem';
import { originalError } from '../../storage/postgres/sql-state.ts';
import type { ReplicaFacts } from '../../storage/replica/replica-facts.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

const variable = 'SVC_DATABASE_REPLICA_URI';

/** By the result of `readReplicaFacts`. `lagMaxMs`: the largest lag with which servers read the replica. */
export const replicaOutcome = async (facts: Promise<ReplicaFacts>, lagMaxMs: number): Promise<Outcome> => {
  try {
    return outcomeOf(await facts, lagMaxMs);
  } catch (error) {
    return failureOf(error);
  }
};

const outcomeOf = (facts: ReplicaFacts, lagMaxMs: number): Outcome => {
  const server = `PostgreSQL ${facts.version} of ${variable}`;
  if (!facts.is_standby)
    return problem(
      `${server} is no standby. Servers read from the primary.`,
      `Point ${variable} to a hot standby of DATABASE_URI.`,
    );
  if (!facts.is_same_cluster)
    return problem(
      `${server} is a standby of another PostgreSQL, or its URI names another database. Servers read from the primary.`,
      `Point ${variable} to a hot standby of DATABASE_URI, and to the same database.`,
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
    `${variable} cannot be used: ${message}. Servers read from the primary.`,
    `Check host and port, that a hot standby of DATABASE_URI runs there, and that pg_hba.conf allows the connection.`,
  );
};
