// Starting and stopping one at a time, among any number of processes: a file that holds the pid of who is at it.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import { identityOf, isAlive } from './process-identity.ts';

const waitMs = 60_000;
const retryMs = 20;

export const withLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  await take(file);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
};

const take = async (file: string): Promise<void> => {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      await writeFile(file, await identityOf(process.pid), { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = await readFile(file, 'utf8').catch(() => undefined);
    // An empty file belongs to someone who is just writing it, or died in between: the latter shows at the deadline.
    if (holder && !(await isAlive(holder))) await rm(file, { force: true });
    else if (performance.now() > deadline) {
      throw new Problem(
        'unavailable',
        `Another process has held ${file} for a minute; if none is at work, remove it`,
      );
    }
    await sleep(retryMs);
  }
};
