// Which machine or container has the data folder. PostgreSQL knows only the processes that it can see, so two containers on one
// volume, or two machines, could each run a server on the same data, and destroy it.
//
//   free ──first process in──▶ ours ──last process out──▶ free
//                               │
//                               └── killed ──▶ taken over: at once by this container, by another one when nothing lives there
//
// Two things show that somebody lives elsewhere: the lock that every process of a server holds (`claim.ts`), and a file that the
// processes of svc touch now and then. The lock is certain where the file system is this machine's own; else both count.
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '@svc/contract/problem';
import { isBeating, keepBeating } from './beat.ts';
import { isLocal, openClaim } from './claim.ts';
import type { Home } from './home.ts';
import { copied } from './postmaster-file.ts';
import { here, isHere, type Place } from './process-identity.ts';

interface Owner extends Place {
  pid: number;
  /** Of a file of the data that is never replaced: a copy has another. */
  inode: number;
}

/** Throws `unavailable` when another machine or container has the folder, or it is a copy of one in use. */
export const takeOver = async (home: Home, signal?: AbortSignal): Promise<void> => {
  const owner = await readOwner(home);
  const inode = await inodeOf(home);
  if (owner && inode !== 0 && owner.inode !== inode) throw copied(home, '');
  if (owner && !isHere(owner) && (await isInUse(home, signal))) throw inUse(home, owner);
};

/** Says that the folder is ours; there must be data in it. */
export const own = async (home: Home): Promise<void> => {
  const owner: Owner = { ...here(), pid: process.pid, inode: await inodeOf(home) };
  await writeFile(home.owner, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
};

/** Nothing of ours uses the folder any more. */
export const disown = (home: Home): Promise<void> => rm(home.owner, { force: true });

/** Shows that we live. */
export const keepOwning = (home: Home): Disposable => keepBeating(home.owner);

/** Whether another machine or container has taken the folder over, because it saw nothing of us for long. */
export const isTakenOver = async (home: Home): Promise<boolean> => {
  const owner = await readOwner(home);
  return owner !== undefined && !isHere(owner);
};

const inUse = (home: Home, { host, pid }: Pick<Owner, 'host' | 'pid'>): Problem =>
  new Problem(
    'unavailable',
    `The data folder ${home.data} is in use by svc on ${host} (process ${pid}), and only one machine or container can run a ` +
      'PostgreSQL on it: stop that one, or set DATABASE_URI to a PostgreSQL that all of them can reach',
  );

const isInUse = async (home: Home, signal?: AbortSignal): Promise<boolean> => {
  await using claim = await openClaim(home.claim);
  if (claim.state === 'held') return true;
  if (claim.state === 'taken' && (await isLocal(home.claim))) return false;
  return isBeating(home.owner, signal);
};

const readOwner = async (home: Home): Promise<Owner | undefined> => {
  const text = await readFile(home.owner, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return undefined; // none, or cut off by a full disk
  }
};

/** 0 when there is no data. */
const inodeOf = async (home: Home): Promise<number> =>
  (await stat(join(home.data, 'PG_VERSION')).catch(() => undefined))?.ino ?? 0;
