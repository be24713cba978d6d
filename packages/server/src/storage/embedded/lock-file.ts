// Starting and stopping one at a time, among any number of processes: a file that holds the identity of who is
// at it. The lock of a process that has died is broken.
import { mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import { identityOf, isAlive } from './process-identity.ts';

const waitMs = 180_000;
const retryMs = 20;
/** Between making a file and writing to it, and between making the directory of a breaker and removing it. */
const momentMs = 10_000;

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
      await writeFile(file, identityOf(process.pid), { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await isAbandoned(file)) await breakLock(file);
    else if (performance.now() > deadline) {
      throw new Problem(
        'unavailable',
        `Another process has held ${file} for ${waitMs / 60_000} minutes; if none is at work, remove it`,
      );
    }
    await sleep(retryMs);
  }
};

const isAbandoned = async (file: string): Promise<boolean> => {
  const holder = await readFile(file, 'utf8').catch(() => undefined);
  if (holder === undefined) return false; // released a moment ago
  return holder === '' ? isOld(file) : !isAlive(holder);
};

const isOld = (path: string): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > momentMs,
    () => false,
  );

/** One breaker at a time, and each looks again: else the second removes the lock that the first has just taken. */
const breakLock = async (file: string): Promise<void> => {
  const breaking = `${file}.break`;
  try {
    await mkdir(breaking);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (await isOld(breaking)) await rmdir(breaking).catch(() => undefined); // whoever comes first
    return;
  }
  try {
    if (await isAbandoned(file)) await rm(file, { force: true });
  } finally {
    await rmdir(breaking);
  }
};
