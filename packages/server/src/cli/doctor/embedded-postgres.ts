// The embedded PostgreSQL: binaries of the right version, the server that runs on the data folder, and its files.
import { realpath, stat } from 'node:fs/promises';
import { findDamage } from '../../storage/embedded/data-files.ts';
import { versionProblem } from '../../storage/embedded/data-version.ts';
import type { EmbeddedState } from '../../storage/embedded/embedded-state.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

export const embeddedOutcome = ({
  folder,
  dataVersion,
  binariesVersion,
  running,
  otherHost,
}: EmbeddedState): Outcome => {
  if (binariesVersion === undefined)
    return problem(
      `No embedded PostgreSQL is installed for ${process.platform}-${process.arch}.`,
      'Set DATABASE_URI to a PostgreSQL server of version 15 or newer, or install svc without --omit=optional.',
    );
  const binaries = Number(binariesVersion.split('.')[0]);
  if (dataVersion !== undefined && dataVersion !== binaries) {
    const { what, remedy } = versionProblem(folder, { data: dataVersion, installed: binaries });
    return problem(what, remedy);
  }
  if (otherHost !== undefined)
    return warning(
      `${folder} is used by svc on ${otherHost}, or was when that machine or container was killed.`,
      `Run svc doctor there. If no svc runs there, the next start takes over the folder.`,
    );
  if (running !== undefined)
    return ok(`PostgreSQL ${binaries} runs on ${folder} (process ${running.pid}); it is checked as it runs.`);
  return ok(
    dataVersion === undefined
      ? `PostgreSQL ${binaries} is installed, and there is no data yet; the first start creates it.`
      : `${folder} contains data of PostgreSQL ${dataVersion}, as installed. No server runs on it.`,
  );
};

/** PostgreSQL starts only when others have no rights, and the group may at most read. */
const refusedMode = 0o027;

/** Call it while PostgreSQL does not run: the files are complete, and PostgreSQL accepts the mode of their folder. */
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
