// Limits on the disk space that exports use: a minimum of free space, because the database may be on the same disk, and a quota of the
// folder.
import { lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { DestinationError } from '../../s3/destination-error.ts';

export interface FolderRules {
  /** Free space to keep on the disk; 0 for no limit. */
  freeBytes: number;
  /** Maximum size of all files below a root; Infinity for no limit. */
  quotaBytes: number;
}

export const noRules: FolderRules = { freeBytes: 0, quotaBytes: Infinity };

const mb = 1_024 ** 2;
const inMb = (bytes: number): string => `${Math.floor(bytes / mb)} MB`;

/** Throws when writing `bytes` would leave less than `freeBytes` free. `disk` names the disk in the message. */
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
    `${disk} has ${inMb(free)} free, and ${inMb(freeBytes)} must stay free. Free some space.`,
    { code: 'DiskAlmostFull', isFinal: false },
  );
};

/** Throws when all files below the root and `bytes` more would exceed the quota. */
export const checkQuota = async (root: string, bytes: number, quotaBytes: number): Promise<void> => {
  if (quotaBytes === Infinity) return;
  const used = await sizeOf(root);
  if (used + bytes <= quotaBytes) return;
  throw new DestinationError(
    `Exports in the folder use ${inMb(used)} of ${inMb(quotaBytes)}, and ${inMb(bytes)} more are needed. ` +
      'Delete old exports, or name another folder in SVC_EXPORT_FILE_ROOTS.',
    { code: 'QuotaExceeded', isFinal: false },
  );
};

/** Size of all files in a folder and its subfolders. Symbolic links are not followed; files that are deleted meanwhile are ignored. */
const sizeOf = async (folder: string): Promise<number> => {
  let bytes = 0;
  const entries = await readdir(folder, { withFileTypes: true }).catch(ifDeleted([]));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await sizeOf(path);
    else bytes += (await lstat(path).catch(ifDeleted({ size: 0 }))).size;
  }
  return bytes;
};

const ifDeleted =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== 'ENOENT') throw error;
    return value;
  };
