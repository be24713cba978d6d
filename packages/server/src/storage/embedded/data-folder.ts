// Explains file system errors of the data folder: full disk, read-only file system, missing permission.
import { statfs } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { Problem } from '@svc/contract/problem';

/** Space of the file system of a path, which need not exist yet; undefined when it cannot be determined. */
export const spaceOf = async (path: string): Promise<{ free: number; size: number } | undefined> => {
  for (let at = path; ; at = dirname(at)) {
    try {
      const { bavail, blocks, bsize } = await statfs(at);
      return { free: bavail * bsize, size: blocks * bsize };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(at) === at) return undefined;
    }
  }
};

type Fault = 'full' | 'read-only' | 'forbidden';

const faults: Readonly<Record<string, Fault>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  '53100': 'full',
  EROFS: 'read-only',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
};
/** PostgreSQL's programs report errors as text only. */
const texts: readonly (readonly [RegExp, Fault])[] = [
  [/no space left on device|disk quota exceeded/i, 'full'],
  [/read-only file system/i, 'read-only'],
];

/** Classifies an error or one of its causes; undefined when it is not about the folder. */
const faultOf = (error: unknown, folder: string): Fault | undefined => {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, path, message } = at as NodeJS.ErrnoException;
    const fault = faults[code ?? ''] ?? texts.find(([text]) => text.test(message))?.[1];
    // Errors of write() have no path. EACCES without a path may be about something else, such as a port.
    const isSameScope = path === undefined ? fault !== 'forbidden' : !relative(folder, path).startsWith('..');
    if (fault !== undefined && isSameScope) return fault;
  }
  return undefined;
};

/**
 * Replaces an error about the folder by a Problem that names the folder; returns other errors unchanged. `holdsDatabase`: whether the
 * database is in the folder too.
 */
export const explainFolder = async (
  error: unknown,
  folder: string,
  { holdsDatabase }: { holdsDatabase: boolean },
): Promise<unknown> => {
  const fault = faultOf(error, folder);
  if (fault === undefined || (!holdsDatabase && isOfDatabase(error))) return error;
  return new Problem('unavailable', await sentenceOf(fault, folder), { cause: error });
};

const isOfDatabase = (error: unknown): boolean =>
  error instanceof Error &&
  (/^\d{5}$/.test((error as { code?: string }).code ?? '') || isOfDatabase(error.cause));

const sentenceOf = async (fault: Fault, folder: string): Promise<string> => {
  const elsewhere = 'or choose another folder with --data-dir';
  switch (fault) {
    case 'full': {
      const space = await spaceOf(folder);
      const left = space ? ` (${toMb(space.free)} of ${toMb(space.size)} MB are free)` : '';
      return `The disk of the data folder ${folder} is full${left}: free some space, ${elsewhere}`;
    }
    case 'read-only':
      return `The data folder ${folder} is on a read-only file system: mount it writable, ${elsewhere}`;
    case 'forbidden':
      return `This user has no write permission for the data folder ${folder}: grant it, ${elsewhere}`;
  }
};

const toMb = (bytes: number): number => Math.floor(bytes / 1_024 ** 2);

/** An explanation when the disk has no room even for a line in the server's log; undefined otherwise. */
export const findFull = async (folder: string): Promise<string | undefined> => {
  const space = await spaceOf(folder);
  return space !== undefined && space.free < 1_024 ** 2 ? sentenceOf('full', folder) : undefined;
};
