// The embedded PostgreSQL: binaries of the right version, and the server that runs on the data folder.
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
