// The schema of the database, compared with this program.
import type { Database } from '../../storage/postgres/database.ts';
import { readSchemaState, type SchemaState } from '../../storage/schema/migrate.ts';
import { hasRestoreTable, restoreTableProblem } from '../../storage/schema/restore-table.ts';
import { SchemaConflict } from '../../storage/schema/schema-conflict.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

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
