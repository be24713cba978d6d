// postmaster.pid, with which PostgreSQL prevents two servers on one data folder. PostgreSQL checks only whether the pid in the file is
// alive. After a server was killed, another process may get its pid (after a restart of a container, soon), and no server would start.
// https://github.com/postgres/postgres/blob/REL_18_STABLE/src/backend/utils/init/miscinit.c (CreateLockFile)
import { spawnSync } from 'node:child_process';
import { readFile, readlink, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '@svc/contract/problem';
import type { Home } from './home.ts';
import { isRunning } from '../../config/process-identity.ts';

const fileOf = (home: Home): string => join(home.data, 'postmaster.pid');

const linesOf = async (file: string): Promise<string[]> =>
  (await readFile(file, 'utf8').catch(() => '')).split('\n');

/** Pid of the server that runs or ran last; undefined after a clean shutdown. */
export const findPostmaster = async (home: Home): Promise<number | undefined> => {
  const [pid] = await linesOf(fileOf(home));
  return Number(pid) || undefined;
};

/** True when the process is a server on this data folder, or is about to become one: its working directory is the folder. */
export const isPostmaster = async (data: string, pid: number): Promise<boolean> => {
  if (!isRunning(pid)) return false;
  if (process.platform === 'win32') return true; // Windows does not report it
  if (process.platform === 'linux') {
    const [cwd, own] = await Promise.all([readlink(`/proc/${pid}/cwd`), realpath(data)]).catch(() => []);
    return cwd !== undefined && cwd === own;
  }
  const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.includes(data);
};

/** The error for a folder that was copied while a server ran on it. Such a copy is inconsistent. */
export const copied = (home: Home, original: string): Problem =>
  new Problem(
    'unavailable',
    `${home.data} is a copy of the data of a running PostgreSQL${original}, and such a copy is not consistent. Stop the original ` +
      `and copy it again. If nothing ran on it when it was copied, remove ${home.owner} and ${fileOf(home)}`,
  );

/**
 * Makes PostgreSQL ignore the lock files of a dead server whose pid belongs to another process now. The caller must have made sure
 * that no server runs on the folder elsewhere.
 */
export const clearStaleFiles = async (home: Home): Promise<void> => {
  const file = fileOf(home);
  const [pid, data = '', ...rest] = await linesOf(file);
  if (isAnother(pid) && !(await isPostmaster(home.data, Number(pid)))) {
    if (data !== home.data && (await isPostmaster(data, Number(pid)))) throw copied(home, ` (in ${data})`);
    // PostgreSQL ignores the pid of its parent process. The other lines stay: they identify the shared memory, by which PostgreSQL finds
    // leftover processes of the dead server.
    await writeFile(file, [process.pid, data, ...rest].join('\n'));
  }
  const socketLock = join(home.socketDir ?? join(home.data, '..'), '.s.PGSQL.5432.lock');
  const [holder] = await linesOf(socketLock);
  if (isAnother(holder) && !(await isPostmaster(home.data, Number(holder))))
    await rm(socketLock, { force: true });
};

const isAnother = (pid: string | undefined): boolean =>
  Number(pid) > 0 && Number(pid) !== process.pid && isRunning(Number(pid));
