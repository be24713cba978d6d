// svc backup: writes a backup of the database to a folder.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { keyFileIn } from '../../auth/sealed-users/encryption-key.ts';
import type { ConfigSources } from '../../config/config.ts';
import { bytes, count, plural } from '../output/quantities.ts';
import { loadStored } from '../stored.ts';
import { productVersion } from './version.ts';

export async function backup(sources: ConfigSources, given: string): Promise<void> {
  const { settings } = loadStored(sources);
  const folder = resolve(given);
  const { withUnmigratedDatabase } = await import('../../app/stored-data.ts');
  const { writeBackup } = await import('../../storage/backup/backup.ts');
  const { FolderTarget } = await import('../../storage/backup/folder-target.ts');
  const { signal } = new AbortController();
  const { tables, created_at } = await withUnmigratedDatabase(settings, (_, options) =>
    writeBackup(options, { target: new FolderTarget(folder), program: productVersion(), signal }),
  );
  const sum = (key: 'rows' | 'bytes'): number => tables.reduce((total, table) => total + table[key], 0);
  console.log(
    `${folder}: ${plural(tables.length, 'table')}, ${count(sum('rows'))} rows, ${bytes(sum('bytes'))}, as of ${created_at}`,
  );
  const keyFile = keyFileIn(settings.storage.dataDir);
  if (settings.auth.encryptionKey !== undefined || existsSync(keyFile))
    console.log(
      `The encryption key is not part of the backup. Keep it elsewhere: ${settings.auth.encryptionKey === undefined ? keyFile : 'SVC_ENCRYPTION_KEY'}`,
    );
}
