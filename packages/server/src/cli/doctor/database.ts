// The database can be reached, has a supported version, and takes writes.
import { Problem } from '@svc/contract/problem';
import type { DatabaseFacts } from '../../storage/postgres/installation.ts';
import { ok, type Outcome, problem } from './finding.ts';

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
  return problem(`${error.message}.`, remedyOf(error.message));
};

const remedyOf = (message: string): string => {
  if (/password|authentication|role ".*" does not exist|no pg_hba/i.test(message))
    return 'Correct the user and the password in DATABASE_URI, or allow this host in pg_hba.conf.';
  if (/database ".*" does not exist/.test(message))
    return 'Create the database, or correct its name in DATABASE_URI.';
  if (/15 or newer/.test(message))
    return 'Upgrade the PostgreSQL server, or point DATABASE_URI to a newer one.';
  if (/ALTER ROLE/.test(message)) return 'Execute the statements, and close the pooled connections.';
  if (/pooler/.test(message))
    return 'Point DATABASE_URI to PostgreSQL itself, or set SVC_DATABASE_LISTEN_URI (docs/database.md, connection poolers).';
  if (/too many (clients|connections)|remaining connection slots/i.test(message))
    return 'Raise max_connections, or lower SVC_POOL_MAX or SVC_EXECUTORS of the servers.';
  return 'Check host and port in DATABASE_URI, that PostgreSQL runs there, and that firewalls allow the connection.';
};
