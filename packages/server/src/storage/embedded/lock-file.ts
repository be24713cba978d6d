// Lets one process at a time start or stop the server: a lock file that holds the identity of the process that owns the lock. The
// lock of a dead process is removed.
import { mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import { hasHeartbeat, keepHeartbeat } from './heartbeat-file.ts';
import { identityOf, isAlive, isSameScope, scopeOf } from '../../config/process-identity.ts';

const waitMs = 180_000;
const retryMs = 20;
/** Longest time between the creation of a lock file and the write to it, and between making and removing a `.break` directory. */
const momentMs = 10_000;

export const withLock = async <T>(file: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
  await take(file, signal);
  using _heartbeat = keepHeartbeat(file);
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
        `Another process has held ${file} for ${waitMs / 60_000} minutes. If no svc process is starting or stopping, remove the file`,
      );
    }
    await sleep(retryMs, undefined, signal ? { signal } : {});
  }
};

/** Creates the lock file; false when it exists. */
const create = async (file: string): Promise<boolean> => {
  try {
    await writeFile(file, identityOf(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // On a full disk the file is created but stays empty, and nobody could tell who owns it.
    await rm(file, { force: true }).catch(() => undefined); // on a read-only disk there is no file
    throw error;
  }
};

/** The content of a lock file whose owner is dead; undefined when the owner lives, or there is no file. */
const findAbandoned = async (file: string, signal?: AbortSignal): Promise<string | undefined> => {
  const holder = await readFile(file, 'utf8').catch(() => undefined);
  if (holder === undefined) return undefined; // released meanwhile
  if (holder === '') return (await isOld(file)) ? holder : undefined;
  if (isSameScope(scopeOf(holder))) return isAlive(holder) ? undefined : holder;
  if (!(await hasHeartbeat(file, signal))) return holder;
  throw new Problem(
    'unavailable',
    `${file} is held by svc on ${scopeOf(holder).host}, which is starting or stopping PostgreSQL: only one machine or container ` +
      'can use the data folder',
  );
};

const isOld = (path: string): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > momentMs,
    () => false,
  );

/** One process at a time removes a lock, and checks its content again: otherwise it could remove a lock that was just taken. */
const breakLock = async (file: string, abandoned: string): Promise<void> => {
  const breaking = `${file}.break`;
  try {
    await mkdir(breaking);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (await isOld(breaking)) await rmdir(breaking).catch(() => undefined); // another process may have removed it
    return;
  }
  try {
    if ((await readFile(file, 'utf8').catch(() => undefined)) === abandoned) await rm(file, { force: true });
  } finally {
    await rmdir(breaking);
  }
};
