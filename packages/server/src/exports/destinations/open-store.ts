import type { EgressGuard } from '../../net/guard.ts';
import type { FolderRules } from './disk-space.ts';
import type { ProbedStore } from './file-store.ts';
import { FolderStore } from './folder-store.ts';
import { usualS3Limits, type S3Limits } from './s3-limits.ts';
import { S3Store } from './s3-store.ts';
import type { StoreTarget } from './store-target.ts';

export interface StoreParts {
  guard: EgressGuard;
  /** Below which folders may be; the first is where relative paths start. */
  fileRoots: readonly string[];
  /** Whether a destination may use the server's own credentials. */
  lendsCredentials: boolean;
  folderRules?: FolderRules;
  limits?: S3Limits;
}

/** Connects to nothing yet. Throws a DestinationError for what can lead nowhere. */
export const openStore = (target: StoreTarget, parts: StoreParts): ProbedStore => {
  if (target.destination_type === 'file')
    return new FolderStore(target.config.path, parts.fileRoots, parts.folderRules);
  const { guard, lendsCredentials, limits = usualS3Limits } = parts;
  return new S3Store(target, { guard, lendsCredentials, limits });
};
