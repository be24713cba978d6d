// svc backup: writes a backup of the database to a folder or a bucket.
import { existsSync } from 'node:fs';
import { keyFileIn } from '../../auth/sealed-users/encryption-key.ts';
import { formatPlace } from '../../backups/backup-place.ts';
import type { ConfigSources } from '../../config/config.ts';
import { placeOf } from '../backup-place.ts';
import { interruptible } from '../stop-signal.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { bytes, count, plural } from '../output/quantities.ts';
import { loadStored } from '../stored.ts';
import { packageVersion } from '../../config/package-files.ts';

export async function backup(sources: ConfigSources, given: string): Promise<void> {
  const place = placeOf(given);
  const { settings, project } = loadStored(sources);
  const { withTarget } = await import('../../backups/open-place.ts');
  const { withUnmigratedDatabase } = await import('../../app/stored-data.ts');
  const { writeBackup } = await import('../../storage/backup/backup.ts');
  const env = { ...project?.env, ...sources.env };
  const { tables, created_at } = await interruptible((signal) =>
    withTarget(place, { env, signal }, (target) =>
      withUnmigratedDatabase(settings, async (_, options) => {
        using line = new ProgressLine(process.stderr);
        const program = packageVersion();
        return await writeBackup(options, {
          target,
          program,
          signal,
          onProgress: ({ table, copied, all, bytes: written }) =>
            line.show(`${count(copied)} of ${plural(all, 'table')}, ${bytes(written)}: ${table}`),
        });
      }),
    ),
  );
  const sum = (key: 'rows' | 'bytes'): number => tables.reduce((total, table) => total + table[key], 0);
  console.log(
    `${formatPlace(place)}: ${plural(tables.length, 'table')}, ${count(sum('rows'))} rows, ${bytes(sum('bytes'))}, as of ${created_at}`,
  );
  const keyFile = keyFileIn(settings.storage.dataDir);
  if (settings.auth.encryptionKey !== undefined || existsSync(keyFile))
    console.log(
      `The encryption key is not part of the backup. Keep it elsewhere: ${settings.auth.encryptionKey === undefined ? keyFile : 'SVC_ENCRYPTION_KEY'}`,
    );
}
