// How much exports may take of a disk: they leave some of it free, since the database may be on the same one, and a folder holds
// so much and no more.
import { lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { DestinationError } from './destination-error.ts';

export interface FolderRules {
  /** Left free on the disk. */
  freeBytes: number;
  /** Of all files below a root; infinity for any. */
  quotaBytes: number;
}

export const noRules: FolderRules = { freeBytes: 0, quotaBytes: Infinity };

const mb = 1_024 ** 2;
const inMb = (bytes: number): string => `${Math.floor(bytes / mb)} MB`;

/** Throws when fewer bytes would be left free once as many as these are written. `disk`: in words. */
export const checkFree = async (
  path: string,
  bytes: number,
  freeBytes: number,
  disk: string,
): Promise<void> => {
  if (freeBytes === 0) return;
  const { bavail, bsize } = await statfs(path);
  const free = bavail * bsize;
  if (free - bytes >= freeBytes) return;
  throw new DestinationError(
    `${disk} has ${inMb(free)} free, and ${inMb(freeBytes)} are kept free (SVC_EXPORT_FREE_SPACE). Make room, or lower it.`,
    { code: 'DiskAlmostFull', isFinal: false },
  );
};

/** Throws when all files below the root would take more than they may once as many bytes as these are written. */
export const checkQuota = async (root: string, bytes: number, quotaBytes: number): Promise<void> => {
  if (quotaBytes === Infinity) return;
  const used = await sizeOf(root);
  if (used + bytes <= quotaBytes) return;
  throw new DestinationError(
    `Exports in the folder take ${inMb(used)} of ${inMb(quotaBytes)} (SVC_EXPORT_QUOTA), and ${inMb(bytes)} would come on top. ` +
      'Delete old ones, or raise it.',
    { code: 'QuotaExceeded', isFinal: false },
  );
};

/** Of the files in a folder and below, symbolic links not followed. Files that are deleted during the count are left out. */
const sizeOf = async (folder: string): Promise<number> => {
  let bytes = 0;
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessGone([]));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await sizeOf(path);
    else bytes += (await lstat(path).catch(unlessGone({ size: 0 }))).size;
  }
  return bytes;
};

const unlessGone =
  <T>(otherwise: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== 'ENOENT') throw error;
    return otherwise;
  };
