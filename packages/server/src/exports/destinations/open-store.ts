import type { EgressGuard } from '../../net/guard.ts';
import type { FolderRules } from './disk-space.ts';
import type { ProbedStore } from './file-store.ts';
import { FolderStore } from './folder-store.ts';
import { usualS3Limits, type S3Limits } from './s3-limits.ts';
import { S3Store } from './s3-store.ts';
import type { StoreTarget } from './store-target.ts';

export interface StoreParts {
  guard: EgressGuard;
  /** Folders must be below one of these. Relative paths are resolved against the first. */
  fileRoots: readonly string[];
  /** True when destinations may use the server's own credentials. */
  lendsCredentials: boolean;
  folderRules?: FolderRules;
  limits?: S3Limits;
}

/** Opens no connection yet. Throws a DestinationError for an invalid path or missing credentials. */
export const openStore = (target: StoreTarget, parts: StoreParts): ProbedStore => {
  if (target.destination_type === 'file')
    return new FolderStore(target.config.path, parts.fileRoots, parts.folderRules);
  const { guard, lendsCredentials, limits = usualS3Limits } = parts;
  return new S3Store(target, { guard, lendsCredentials, limits });
};
