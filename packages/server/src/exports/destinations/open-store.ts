import type { EgressGuard } from '../../net/guard.ts';
import type { FolderRules } from './disk-space.ts';
import type { ProbedStore } from './file-store.ts';
import { FolderStore } from './folder-store.ts';
import { usualS3Limits, type S3Limits } from '../../s3/s3-limits.ts';
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
export const openStore = async (target: StoreTarget, parts: StoreParts): Promise<ProbedStore> => {
  if (target.destination_type === 'file')
    return new FolderStore(target.config.path, parts.fileRoots, parts.folderRules);
  const { guard, lendsCredentials, limits = usualS3Limits } = parts;
  // Imported here, because the S3 client is a quarter of the server's code, and most servers have no such destination.
  const { S3Store } = await import('./s3-store.ts');
  return new S3Store(target, { guard, lendsCredentials, limits });
};
