// The files of the embedded PostgreSQL, while it does not run: they are complete, and PostgreSQL accepts the mode of their folder.
import { realpath, stat } from 'node:fs/promises';
import { findDamage } from '../../storage/embedded/data-files.ts';
import { ok, type Outcome, problem } from './finding.ts';

/** PostgreSQL starts only when others have no rights, and the group may at most read. */
const refusedMode = 0o027;

export const checkDataFiles = async (folder: string): Promise<Outcome[]> => {
  const data = await realpath(folder); // a link, where root runs PostgreSQL as nobody
  const outcomes: Outcome[] = [];
  const { mode } = await stat(data);
  if (process.platform !== 'win32' && (mode & refusedMode) !== 0)
    outcomes.push(
      problem(
        `Other users have rights on ${data} (mode ${(mode & 0o777).toString(8)}), and PostgreSQL does not start then.`,
        `chmod 700 ${data}`,
      ),
    );
  for (const fault of await findDamage(data))
    outcomes.push(
      problem(
        `The data of PostgreSQL is damaged: ${fault}`,
        'Restore a backup into a new data folder: svc restore <backup> --data-dir <folder>.',
      ),
    );
  return outcomes.length > 0 ? outcomes : [ok(`The files of PostgreSQL in ${folder} have valid sizes.`)];
};
