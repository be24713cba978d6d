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
  if (/pooler/.test(message)) return 'Point DATABASE_URI to PostgreSQL itself.';
  if (/too many (clients|connections)|remaining connection slots/i.test(message))
    return 'Raise max_connections, or lower SVC_POOL_MAX or SVC_EXECUTORS of the servers.';
  return 'Check host and port in DATABASE_URI, that PostgreSQL runs there, and that firewalls allow the connection.';
};
