// postmaster.pid, by which PostgreSQL keeps two servers from one data folder. It goes by the pid in the file being alive, so the
// file of a server that was killed keeps every other away once its pid is another process: after a restart of a container, soon.
// https://github.com/postgres/postgres/blob/REL_18_STABLE/src/backend/utils/init/miscinit.c (CreateLockFile)
import { spawnSync } from 'node:child_process';
import { readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '@svc/contract/problem';
import type { Home } from './home.ts';
import { isRunning } from './process-identity.ts';

const fileOf = (home: Home): string => join(home.data, 'postmaster.pid');

const linesOf = async (file: string): Promise<string[]> =>
  (await readFile(file, 'utf8').catch(() => '')).split('\n');

/** Of the server that runs, or ran last; undefined when the last one ended in good order. */
export const findPostmaster = async (home: Home): Promise<number | undefined> => {
  const [pid] = await linesOf(fileOf(home));
  return Number(pid) || undefined;
};

/** Whether the process is a server on this data folder, or becomes one: its working directory is there. */
export const isPostmaster = async (data: string, pid: number): Promise<boolean> => {
  if (!isRunning(pid)) return false;
  if (process.platform === 'win32') return true; // which does not tell
  if (process.platform === 'linux') {
    const [cwd, own] = await Promise.all([readlink(`/proc/${pid}/cwd`), realpath(data)]).catch(() => []);
    return cwd !== undefined && cwd === own;
  }
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.includes(data);
};

/** Throws when the folder was copied while a server ran on it: such a copy is not consistent. */
export const copied = (home: Home, original: string): Problem =>
  new Problem(
    'unavailable',
    `${home.data} is a copy of the data of a running PostgreSQL${original}, and such a copy is not consistent. Stop the original ` +
      `and copy it again. If nothing ran on it when it was copied, remove ${home.owner} and ${fileOf(home)}`,
  );

/**
 * Makes PostgreSQL look past lock files of a server that has ended, whoever has its pid now. Only for who has made sure that no
 * server runs on the folder elsewhere.
 */
export const clearStaleFiles = async (home: Home): Promise<void> => {
  const file = fileOf(home);
  const [pid, data = '', ...rest] = await linesOf(file);
  if (isAnother(pid) && !(await isPostmaster(home.data, Number(pid)))) {
    if (data !== home.data && (await isPostmaster(data, Number(pid)))) throw copied(home, ` (in ${data})`);
    // A pid of its parent is none of a rival's. The rest stays: by its shared memory PostgreSQL finds processes that are left over.
    await writeFile(file, [process.pid, data, ...rest].join('\n'));
  }
  const socketLock = join(home.socketDir ?? join(home.data, '..'), '.s.PGSQL.5432.lock');
  const [holder] = await linesOf(socketLock);
  if (isAnother(holder) && !(await isPostmaster(home.data, Number(holder))))
    await rm(socketLock, { force: true });
};

const isAnother = (pid: string | undefined): boolean =>
  Number(pid) > 0 && Number(pid) !== process.pid && isRunning(Number(pid));
