// The database can be reached, has a supported version, and takes writes.
import { Problem } from '@svc/contract/problem';
import type { DatabaseFacts } from '../../storage/postgres/installation.ts';
import { databaseRemedy } from '../output/database-remedy.ts';
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
  return problem(`${error.message}.`, databaseRemedy(error.message));
};
