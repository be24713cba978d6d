// The folder of a cluster. Its name contains the pid of its owner, so that the next cluster can remove the folder of a killed owner, whose
// daemons were killed with it.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const name = /^svc-ceph-(\d+)-/;

/** True when a process with this pid exists. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

export const makeCephFolder = async (parent = tmpdir()): Promise<string> => {
  for (const entry of await readdir(parent)) {
    const owner = Number(name.exec(entry)?.[1]);
    if (owner && !isRunning(owner)) await removeCephFolder(join(parent, entry));
  }
  return mkdtemp(join(parent, `svc-ceph-${process.pid}-`));
};

export const removeCephFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
