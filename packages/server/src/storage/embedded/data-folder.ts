// The folder of the server's data, and what is wrong with it.
import { statfs } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { Problem } from '@svc/contract/problem';

/** Of the file system that holds the path, or would. Undefined when it cannot be asked. */
const spaceOf = async (path: string): Promise<{ free: number; size: number } | undefined> => {
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
/** Programs of PostgreSQL have their errors as text alone. */
const texts: readonly (readonly [RegExp, Fault])[] = [
  [/no space left on device|disk quota exceeded/i, 'full'],
  [/read-only file system/i, 'read-only'],
];

/** What an error, or one that caused it, says about the folder; undefined when it is about something else. */
const faultOf = (error: unknown, folder: string): Fault | undefined => {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, path, message } = at as NodeJS.ErrnoException;
    const fault = faults[code ?? ''] ?? texts.find(([text]) => text.test(message))?.[1];
    // A write names no path. A port that may not be opened, for one, is no matter of the folder.
    const isHere = path === undefined ? fault !== 'forbidden' : !relative(folder, path).startsWith('..');
    if (fault !== undefined && isHere) return fault;
  }
  return undefined;
};

/**
 * The error as a sentence that names the folder, where it is about the folder; else as it is. `isFull`: whether the database
 * is in the folder too.
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
      return `The disk of the data folder ${folder} is full${left}: make room, ${elsewhere}`;
    }
    case 'read-only':
      return `The data folder ${folder} is on a read-only file system: mount it for writing, ${elsewhere}`;
    case 'forbidden':
      return `This user may not write to the data folder ${folder}: let it, ${elsewhere}`;
  }
};

const toMb = (bytes: number): number => Math.floor(bytes / 1_024 ** 2);

/** A sentence when the disk has no room even for the next file of the server's log; undefined when it has. */
export const findFull = async (folder: string): Promise<string | undefined> => {
  const space = await spaceOf(folder);
  return space !== undefined && space.free < 1_024 ** 2 ? sentenceOf('full', folder) : undefined;
};
