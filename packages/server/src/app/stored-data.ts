// Access to the database of the settings for commands, without a server.
import type { Settings } from '../config/settings/settings.ts';
import { openConnection } from '../storage/postgres/connection.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../storage/postgres/database.ts';
import { migrate } from '../storage/schema/migrate.ts';
import { createStorage, type Storage } from '../storage/storage.ts';
import { explainData } from './explain-data.ts';

/** Opens the configured database without migrating its schema. `restores`: the work restores a backup, which may have begun earlier. */
export const withUnmigratedDatabase = async <T>(
  settings: Settings,
  work: (database: Database, options: DatabaseOptions) => Promise<T>,
  { restores = false }: { restores?: boolean } = {},
): Promise<T> => {
  try {
    await using connection = await openConnection(settings.storage, { restores });
    await using database = await openDatabase(connection.options);
    return await work(database, connection.options);
  } catch (error) {
    throw await explainData(error, settings);
  }
};

/** Calls `work` with the migrated database, without a server. */
export const withDatabase = async <T>(
  settings: Settings,
  work: (storage: Storage) => Promise<T>,
): Promise<T> => {
  return await withUnmigratedDatabase(settings, async (database) => {
    await migrate(database);
    return work(createStorage(database));
  });
};
