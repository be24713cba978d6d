// Starting and stopping one at a time, among any number of processes: a file that holds the identity of the process that is at
// it. The lock of a process that has died is broken.
import { mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import { isBeating, keepBeating } from './beat.ts';
import { identityOf, isAlive, isHere, placeOf } from './process-identity.ts';

const waitMs = 180_000;
const retryMs = 20;
/** Between making a file and writing to it, and between making the directory of a breaker and removing it. */
const momentMs = 10_000;

export const withLock = async <T>(file: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
  await take(file, signal);
  using _beat = keepBeating(file);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
};

const take = async (file: string, signal?: AbortSignal): Promise<void> => {
  const deadline = performance.now() + waitMs;
  for (;;) {
    if (await create(file)) return;
    const abandoned = await findAbandoned(file, signal);
    if (abandoned !== undefined) await breakLock(file, abandoned);
    else if (performance.now() > deadline) {
      throw new Problem(
        'unavailable',
        `Another process has held ${file} for ${waitMs / 60_000} minutes; if none is at work, remove it`,
      );
    }
    await sleep(retryMs, undefined, signal ? { signal } : {});
  }
};

/** False when there is one. */
const create = async (file: string): Promise<boolean> => {
  try {
    await writeFile(file, identityOf(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // On a full disk the file is made, and stays empty: nobody could tell whose it is.
    await rm(file, { force: true }).catch(() => undefined); // a read-only one has none
    throw error;
  }
};

/** What the file says of a holder that is no more; undefined while it has one, or there is no file. */
const findAbandoned = async (file: string, signal?: AbortSignal): Promise<string | undefined> => {
  const holder = await readFile(file, 'utf8').catch(() => undefined);
  if (holder === undefined) return undefined; // released a moment ago
  if (holder === '') return (await isOld(file)) ? holder : undefined;
  if (isHere(placeOf(holder))) return isAlive(holder) ? undefined : holder;
  if (!(await isBeating(file, signal))) return holder;
  throw new Problem(
    'unavailable',
    `${file} is held by svc on ${placeOf(holder).host}, which starts or stops PostgreSQL there: only one machine or container ` +
      'can use the data folder',
  );
};

const isOld = (path: string): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > momentMs,
    () => false,
  );

/** One breaker at a time, and each looks again: else the second removes the lock that the first has just taken. */
const breakLock = async (file: string, abandoned: string): Promise<void> => {
  const breaking = `${file}.break`;
  try {
    await mkdir(breaking);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (await isOld(breaking)) await rmdir(breaking).catch(() => undefined); // whoever comes first
    return;
  }
  try {
    if ((await readFile(file, 'utf8').catch(() => undefined)) === abandoned) await rm(file, { force: true });
  } finally {
    await rmdir(breaking);
  }
};
