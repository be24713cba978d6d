// svc restore: checks a backup and loads it into a database without data.
import { formatPlace } from '../../backups/backup-place.ts';
import { type ConfigSources, loadSettings } from '../../config/config.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { BackupSource } from '../../storage/backup/places.ts';
import type { Manifest } from '../../storage/backup/manifest.ts';
import { markRestore, unmarkRestore } from '../../storage/embedded/restore-mark.ts';
import { placeOf } from '../backup-place.ts';
import { interruptible } from '../stop-signal.ts';
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
  // After a signal PostgreSQL rolls the transaction back; the embedded one is stopped.
  const manifest = await interruptible((signal) =>
    withSource(place, { env, signal }, (source) => checkAndLoad(source, settings, { checkOnly, signal })),
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
  { checkOnly, signal }: { checkOnly: boolean; signal: AbortSignal },
): Promise<Manifest> => {
  const { restoreBackup, verifyBackup } = await import('../../storage/backup/restore.ts');
  const manifest = await verifyBackup(source, source.isRemote && !checkOnly ? 'sizes' : 'checksums', signal);
  if (checkOnly) return manifest;
  const { withUnmigratedDatabase } = await import('../../app/stored-data.ts');
  const { dataDir, databaseUri } = settings.storage;
  const isEmbedded = databaseUri === undefined;
  try {
    const onBegin = (): Promise<void> => (isEmbedded ? markRestore(dataDir) : Promise.resolve());
    await withUnmigratedDatabase(
      settings,
      (database, options) => restoreBackup({ database, options }, source, manifest, { signal, onBegin }),
      { restores: true },
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    const where = isEmbedded ? `the data folder ${dataDir}` : 'the database of DATABASE_URI';
    throw new Error(`Nothing was restored to ${where}. Repeat the restore`, { cause: signal.reason });
  }
  if (isEmbedded) await unmarkRestore(dataDir);
  return manifest;
};
