// svc restore: checks a backup and loads it into a database without data.
import { formatPlace } from '../../backups/backup-place.ts';
import { type ConfigSources, loadSettings } from '../../config/config.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { BackupSource } from '../../storage/backup/backup-source.ts';
import type { Manifest } from '../../storage/backup/manifest.ts';
import { placeOf } from '../backup-place.ts';
import { count, plural } from '../output/quantities.ts';

export interface RestoreOptions {
  /** Only check the backup. */
  checkOnly: boolean;
}

export async function restore(
  sources: ConfigSources,
  given: string,
  { checkOnly }: RestoreOptions,
): Promise<void> {
  const place = placeOf(given);
  const { settings, project } = loadSettings(sources);
  const { withSource } = await import('../../backups/open-place.ts');
  const env = { ...project?.env, ...sources.env };
  // A signal ends the process: there is nothing to clean up, because PostgreSQL rolls the transaction back.
  const { signal } = new AbortController();
  const manifest = await withSource(place, { env, signal }, (source) =>
    checkAndLoad(source, settings, checkOnly),
  );
  const rows = manifest.tables.reduce((total, table) => total + table.rows, 0);
  const content = `${plural(manifest.tables.length, 'table')}, ${count(rows)} rows, as of ${manifest.created_at}`;
  if (checkOnly) return console.log(`${formatPlace(place)} is complete and undamaged: ${content}`);
  const target =
    settings.storage.databaseUri === undefined ? settings.storage.dataDir : 'the database of DATABASE_URI';
  console.log(`Restored to ${target}: ${content}`);
}

/** Without `checkOnly`, a backup in a bucket is transferred once: its checksums are compared while it is loaded. */
const checkAndLoad = async (
  source: BackupSource,
  settings: Settings,
  checkOnly: boolean,
): Promise<Manifest> => {
  const { restoreBackup, verifyBackup } = await import('../../storage/backup/restore.ts');
  const manifest = await verifyBackup(source, source.isRemote && !checkOnly ? 'sizes' : 'checksums');
  if (checkOnly) return manifest;
  const { withUnmigratedDatabase } = await import('../../app/stored-data.ts');
  await withUnmigratedDatabase(settings, (database, options) =>
    restoreBackup({ database, options }, source, manifest),
  );
  return manifest;
};
