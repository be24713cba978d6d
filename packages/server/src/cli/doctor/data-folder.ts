// The data folder: it exists or can be created, this user may write to it, other users may not read it, and its disk has
// free space.
import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { spaceOf } from '../../storage/embedded/data-folder.ts';
import { hasRestoreMark, restoreProblem } from '../../storage/embedded/restore-mark.ts';
import { bytes } from '../output/quantities.ts';
import { ok, type Outcome, problem, skipped, warning } from './finding.ts';
import { findDamage } from '../../storage/embedded/data-files.ts';
import { versionProblem } from '../../storage/embedded/data-version.ts';
import type { EmbeddedState } from '../../storage/embedded/embedded-state.ts';

/** Files with secrets. */
const secretFiles = ['encryption.key', 'admin-key', 'postgres-access.json', 'postgres-password'];
const othersMode = 0o077;
const othersReadMode = 0o044;

export const checkDataFolder = async (folder: string): Promise<Outcome[]> => {
  const { path, missing } = await nearestExisting(folder);
  const found = await stat(path);
  if (!found.isDirectory())
    return [
      problem(`${path} is not a folder.`, 'Choose another folder with --data-dir, or remove the file.'),
    ];
  const fault = await writeFault(path);
  if (fault !== undefined)
    return [
      problem(
        `The data folder ${folder} ${missing ? 'cannot be created' : 'cannot be written to'}: ${path} ${fault}.`,
        'Grant this user write permission, or choose another folder with --data-dir.',
      ),
    ];
  if (missing) return [ok(`The data folder ${folder} does not exist yet; the first start creates it.`)];
  const outcomes = process.platform === 'win32' ? [] : await privacyOutcomes(folder, found);
  if (await hasRestoreMark(folder)) {
    const { what, remedy } = restoreProblem(folder);
    outcomes.push(problem(what, remedy));
  }
  return outcomes.length > 0 ? outcomes : [ok(`The data folder ${folder} is writable and private.`)];
};

const nearestExisting = async (folder: string): Promise<{ path: string; missing: boolean }> => {
  for (let path = folder; ; path = dirname(path)) {
    try {
      await stat(path);
      return { path, missing: path !== folder };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || dirname(path) === path) throw error;
    }
  }
};

/** Undefined when this user may create files in the folder. */
const writeFault = async (path: string): Promise<string | undefined> => {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
      ? 'is on a read-only file system'
      : 'does not permit this user to write';
  }
};

const privacyOutcomes = async (
  folder: string,
  { uid, mode }: { uid: number; mode: number },
): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  const own = process.getuid?.() ?? uid;
  if (uid !== own)
    outcomes.push(
      warning(
        `The data folder ${folder} belongs to the user with id ${uid}, and svc doctor runs as the user with id ${own}.`,
        `Run svc as the owner, or change the owner: chown -R ${own} ${folder}`,
      ),
    );
  if ((mode & othersMode) !== 0) {
    const canRead = (mode & othersReadMode) !== 0;
    const message = `Other users of this machine can ${canRead ? 'read' : 'enter'} the data folder ${folder} (mode ${octal(mode)}).`;
    outcomes.push((canRead ? problem : warning)(message, `chmod 700 ${folder}`));
  }
  for (const name of secretFiles) {
    const file = join(folder, name);
    const found = await stat(file).catch(() => undefined); // most installations have only some of them
    if (found !== undefined && (found.mode & othersMode) !== 0)
      outcomes.push(
        problem(
          `${file} contains a secret, and other users of this machine can read it (mode ${octal(found.mode)}).`,
          `chmod 600 ${file}, and replace the secret if other people use this machine.`,
        ),
      );
  }
  return outcomes;
};

const octal = (mode: number): string => (mode & 0o777).toString(8);

const warningBytes = 1_000_000_000;
/** PostgreSQL writes log segments of 16 MB. */
const problemBytes = 64_000_000;

export const checkDiskSpace = async (folder: string): Promise<Outcome> => {
  const space = await spaceOf(folder);
  if (space === undefined) return skipped(`The free space of ${folder} cannot be determined.`);
  const message = `${bytes(space.free)} of ${bytes(space.size)} are free on the disk of ${folder}.`;
  const remedy = 'Free some space, or choose a folder on another disk with --data-dir.';
  if (space.free < problemBytes) return problem(message, remedy);
  return space.free < warningBytes ? warning(message, remedy) : ok(message);
};

// The embedded PostgreSQL: binaries of the right version, the server that runs on the data folder, and its files.

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
