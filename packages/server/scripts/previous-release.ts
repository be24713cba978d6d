// The previous release, from which servers are upgraded: a git ref, installed in a folder of its own.
//
// SVC_UPGRADE_FROM=<git ref>   another release than `from` in upgrade-exceptions.json
// SVC_TEST_BUILT=1             also builds its packages, unless the release is so old that it has no build
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What upgrade-exceptions.json contains. */
export interface UpgradeExceptions {
  /** The previous release. */
  from: string;
  /** Tests of the previous release that cannot pass on this schema. `title` includes the titles of the test's groups. */
  exceptions: { file: string; title: string; reason: string }[];
  /** What servers of the two releases return differently of the same rows, as paths with `*` for ids and indexes. */
  changedFields: { field: string; reason: string }[];
  /** What servers of the previous release return in addition on the schema of this one. */
  addedFields: { field: string; reason: string }[];
  /** Beginnings of errors for which servers of the previous release respond with 500 while the schema is migrated. */
  errors: { message: string; reason: string }[];
}

/** The root of this checkout. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Reads upgrade-exceptions.json. */
export const readUpgradeExceptions = async (): Promise<UpgradeExceptions> =>
  JSON.parse(
    await readFile(new URL('upgrade-exceptions.json', import.meta.url), 'utf8'),
  ) as UpgradeExceptions;

/** Executes a program with the output of this process. Resolves with its exit code, or 1 after a signal. */
export const runCommand = (
  cwd: string,
  name: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(name, args, { cwd, env, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 1));
  });

/** Installs the files of a release and their dependencies in a new folder, which is deleted after `use`. */
export const withPreviousRelease = async <T>(
  { from }: Pick<UpgradeExceptions, 'from'>,
  use: (folder: string) => Promise<T>,
): Promise<T> => {
  const ref = process.env['SVC_UPGRADE_FROM'] ?? from;
  const folder = await mkdtemp(join(tmpdir(), 'svc-previous-'));
  try {
    const archive = join(folder, 'release.tar');
    await promisify(execFile)('git', ['archive', '--output', archive, ref], { cwd: root });
    await promisify(execFile)('tar', ['xf', archive, '-C', folder]);
    await rm(archive);
    const code = await runCommand(folder, 'npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline']);
    if (code !== 0) throw new Error(`npm ci of ${ref} failed`);
    if (process.env['SVC_TEST_BUILT'] === '1') {
      const buildCode = await runCommand(folder, 'npm', ['run', 'build', '--if-present']);
      if (buildCode !== 0) throw new Error(`npm run build of ${ref} failed`);
    }
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
