// svc restore: checks a backup and loads it into a database without data.
import { resolve } from 'node:path';
import { type ConfigSources, loadSettings } from '../../config/config.ts';
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
  const { settings } = loadSettings(sources);
  const folder = resolve(given);
  const { restoreBackup, verifyBackup } = await import('../../storage/backup/restore.ts');
  const { FolderSource } = await import('../../storage/backup/folder-source.ts');
  const source = new FolderSource(folder);
  const manifest = await verifyBackup(source, 'checksums');
  const rows = manifest.tables.reduce((total, table) => total + table.rows, 0);
  const content = `${plural(manifest.tables.length, 'table')}, ${count(rows)} rows, as of ${manifest.created_at}`;
  if (checkOnly) return console.log(`${folder} is complete and undamaged: ${content}`);
  const { withUnmigratedDatabase } = await import('../../app/stored-data.ts');
  await withUnmigratedDatabase(settings, (database, options) =>
    restoreBackup({ database, options }, source, manifest),
  );
  const target =
    settings.storage.databaseUri === undefined ? settings.storage.dataDir : 'the database of DATABASE_URI';
  console.log(`Restored to ${target}: ${content}`);
}
