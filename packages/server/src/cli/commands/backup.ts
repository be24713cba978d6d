// svc backup writes a backup of the database to a folder or a bucket. svc restore checks a backup and loads it into a database without data.
import { existsSync } from 'node:fs';
import { keyFileIn } from '../../auth/sealed-users/encryption-key.ts';
import { type BackupPlace, formatPlace, parsePlace } from '../../backups/backup-place.ts';
import { type ConfigSources, loadSettings } from '../../config/config.ts';
import { interruptible } from '../stop-signal.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { bytes, count, plural } from '../output/quantities.ts';
import { loadStored } from '../stored.ts';
import { packageVersion } from '../../config/package-files.ts';
import { UsageError } from '../output/exit-code.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { BackupSource } from '../../storage/backup/places.ts';
import type { Manifest } from '../../storage/backup/manifest.ts';
import { markRestore, unmarkRestore } from '../../storage/embedded/restore-mark.ts';

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

/** The argument of `svc backup` and `svc restore`. Throws a usage error. */
export const placeOf = (given: string): BackupPlace => {
  const place = parsePlace(given, process.cwd());
  if (place !== undefined) return place;
  throw new UsageError({
    where: '<place>',
    value: JSON.stringify(given),
    problem: 'is no URL of a prefix in a bucket',
    remedy: 'Name a bucket and a prefix: s3://bucket/backups/monday. A folder may begin with ./',
  });
};

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
