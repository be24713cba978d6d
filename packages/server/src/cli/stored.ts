// Settings of commands that use the database directly.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigSources, loadSettings } from '../config/config.ts';
import { UsageError } from './output/exit-code.ts';

/** Throws a usage error when there is no database yet: a command in the wrong folder must not create one. */
export const loadStored = (sources: ConfigSources): ReturnType<typeof loadSettings> => {
  const loaded = loadSettings(sources);
  const { databaseUri, dataDir } = loaded.settings.storage;
  if (databaseUri !== undefined || existsSync(join(dataDir, 'postgres'))) return loaded;
  throw new UsageError({
    where: '--data-dir',
    value: dataDir,
    problem: 'holds no database',
    remedy: 'Start the server once, or name its folder with --config or --data-dir.',
  });
};
