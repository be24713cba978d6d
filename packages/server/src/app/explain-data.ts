import type { Settings } from '../config/settings/settings.ts';
import { explainFolder } from '../storage/embedded/data-folder.ts';

/** Replaces an error about the data folder by one that names the folder; returns other errors unchanged. */
export const explainData = (
  error: unknown,
  { storage: { dataDir, databaseUri } }: Settings,
): Promise<unknown> => explainFolder(error, dataDir, { holdsDatabase: databaseUri === undefined });
