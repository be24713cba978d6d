// The data folder: it exists or can be created, this user may write to it, other users may not read it, and its disk has
// free space.
import { access, constants, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { spaceOf } from '../../storage/embedded/data-folder.ts';
import { hasRestoreMark, restoreProblem } from '../../storage/embedded/restore-mark.ts';
import { bytes } from '../output/quantities.ts';
import { ok, type Outcome, problem, skipped, warning } from './finding.ts';

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
