// Which machine or container owns the data folder. PostgreSQL detects only processes that it can see. Two containers on one volume,
// or two machines, could each start a server on the same data and destroy it.
//
//   free ──first process attaches──▶ owned ──last process detaches──▶ free
//                                      │
//                                      └── killed ──▶ taken over: by the same container at once, by another one when no heartbeat is seen
//
// Two things show that an owner elsewhere is alive: the lock that every process of a server holds (`kernel-lock.ts`), and a file that
// svc processes touch regularly. On a file system of this machine the lock is sufficient; otherwise both are checked.
import { mkdir, open, readFile, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '@svc/contract/problem';
import { isLocal, openKernelLock } from './kernel-lock.ts';
import type { Home } from './home.ts';
import { copied } from './postmaster-file.ts';
import {
  identityOf,
  isAlive,
  isSameScope,
  ownScope,
  type PidScope,
  scopeOf,
} from '../../config/process-identity.ts';
import { setTimeout as sleep } from 'node:timers/promises';

interface Owner extends PidScope {
  pid: number;
  /** Inode of a data file that is never replaced; in a copy of the folder it differs. */
  inode: number;
}

/** Throws `unavailable` when another machine or container owns the folder, or when it is a copy of a folder in use. */
export const takeOver = async (home: Home, signal?: AbortSignal): Promise<void> => {
  const owner = await readOwner(home);
  const inode = await inodeOf(home);
  if (owner && inode !== 0 && owner.inode !== inode) throw copied(home, '');
  if (owner && !isSameScope(owner) && (await isInUse(home, signal))) throw inUse(home, owner);
};

/** Records this machine or container as the owner. The folder must contain data. */
export const own = async (home: Home): Promise<void> => {
  const owner: Owner = { ...ownScope(), pid: process.pid, inode: await inodeOf(home) };
  await writeFile(home.owner, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
};

/** Removes the owner; called when no process of this machine or container uses the folder. */
export const disown = (home: Home): Promise<void> => rm(home.owner, { force: true });

/** Touches the owner file regularly. */
export const keepOwning = (home: Home): Disposable => keepHeartbeat(home.owner);

/** True when another machine or container has taken over the folder, since it saw no heartbeat for too long. */
export const isTakenOver = async (home: Home): Promise<boolean> => {
  const owner = await readOwner(home);
  return owner !== undefined && !isSameScope(owner);
};

const inUse = (home: Home, { host, pid }: Pick<Owner, 'host' | 'pid'>): Problem =>
  new Problem(
    'unavailable',
    `The data folder ${home.data} is in use by svc on ${host} (process ${pid}), and only one machine or container can run ` +
      'PostgreSQL on it: stop that process, or set DATABASE_URI to a PostgreSQL server that all of them can reach',
  );

const isInUse = async (home: Home, signal?: AbortSignal): Promise<boolean> => {
  await using lock = await openKernelLock(home.lockFile);
  if (lock.state === 'held') return true;
  if (lock.state === 'taken' && (await isLocal(home.lockFile))) return false;
  return hasHeartbeat(home.owner, signal);
};

const readOwner = async (home: Home): Promise<Owner | undefined> => {
  const text = await readFile(home.owner, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return undefined; // empty, or truncated by a full disk
  }
};

/** 0 when there is no data. */
const inodeOf = async (home: Home): Promise<number> =>
  (await stat(join(home.data, 'PG_VERSION')).catch(() => undefined))?.ino ?? 0;

// Lets one process at a time start or stop the server: a lock file that holds the identity of the process that owns the lock. The
// lock of a dead process is removed.

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

// A file that a live process touches regularly. A watcher compares two modification times of the file with each other, never with its
// own clock, since the clocks of two machines may differ.

/** Interval at which the file is touched. */
const heartbeatMs = 2_000;
/** Time without a heartbeat after which the process counts as dead. Long, since its machine may be busy, or the file system remote. */
const quietMs = 15_000;
const lookMs = 250;

/** Touches the file until disposed. Does not create the file again when it was deleted. */
export const keepHeartbeat = (file: string): Disposable => {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined); // the file is read-only or was deleted: no heartbeat
  }, heartbeatMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
};

/** Resolves with true at the next heartbeat; with false after `quietMs` without one, or when there is no file. */
export const hasHeartbeat = async (file: string, signal?: AbortSignal): Promise<boolean> => {
  const first = await touchedMs(file);
  if (first === undefined) return false;
  const deadline = performance.now() + quietMs;
  while (performance.now() < deadline) {
    await sleep(lookMs, undefined, signal ? { signal } : {});
    const now = await touchedMs(file);
    if (now === undefined) return false;
    if (now !== first) return true;
  }
  return false;
};

/** Opens the file, because a network file system refreshes cached times only then. */
const touchedMs = async (file: string): Promise<number | undefined> => {
  try {
    await using handle = await open(file);
    return (await handle.stat()).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
