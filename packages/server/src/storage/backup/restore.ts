// Restores a backup into a database without data. The backup is checked first; then all rows are loaded in one transaction, so a restore
// that fails or is killed leaves a database without data, and can be repeated. No server starts on such a database (restore-table.ts).
import type pg from 'pg';
import type { Database, DatabaseOptions } from '../postgres/database.ts';
import { migrate, migrateTo } from '../schema/migrate.ts';
import { createRestoreTable, dropRestoreTable } from '../schema/restore-table.ts';
import { readSchemaFiles } from '../schema/sql-files.ts';
import { BackupError, type BackupSource } from './places.ts';
import { assertEmpty, quote, readTables } from './catalog.ts';
import { CopyWritable } from './copy-streams.ts';
import { type BackupTable, type Manifest, readManifest } from './manifest.ts';
import { openSession } from './session.ts';
import { checkTableFileSize, readTableFile, verifyTableFile } from './table-file.ts';

/** `sizes` transfers no files; `checksums` reads all of them. */
export type CheckDepth = 'sizes' | 'checksums';

/**
 * Returns the manifest of the backup. Throws a BackupError for a damaged or incomplete backup, and the reason of the signal after an
 * abort.
 */
export const verifyBackup = async (
  source: BackupSource,
  depth: CheckDepth,
  signal?: AbortSignal,
): Promise<Manifest> => {
  const manifest = await readManifest(source);
  const known = new Set(readSchemaFiles().migrations.map(({ name }) => name));
  const unknown = manifest.migrations.filter(({ name }) => !known.has(name));
  if (unknown.length > 0)
    throw new BackupError(
      `The backup is of a newer schema, or of a checkout before 0.1.0 (${unknown.map(({ name }) => name).join(', ')}). Use the program that wrote it, svc ${manifest.program}`,
    );
  const check = depth === 'sizes' ? checkTableFileSize : verifyTableFile;
  for (const table of manifest.tables) {
    signal?.throwIfAborted();
    await check(source, table);
  }
  return manifest;
};

export interface RestoreControl {
  /** An abort ends the restore with the signal's reason; nothing is restored then. */
  signal?: AbortSignal;
  /** Called before the first change of the database. */
  onBegin?: () => Promise<void>;
}

/** `manifest`: of the source, which `verifyBackup` has checked. Both databases are the same one. */
export const restoreBackup = async (
  { database, options }: { database: Database; options: DatabaseOptions },
  source: BackupSource,
  manifest: Manifest,
  { signal = new AbortController().signal, onBegin }: RestoreControl = {},
): Promise<void> => {
  await using session = await openSession(options);
  await assertEmpty(session.client);
  signal.throwIfAborted();
  await onBegin?.();
  await createRestoreTable(session.client);
  await migrateTo(
    database,
    manifest.migrations.map(({ name }) => name),
  );
  await load(session.client, source, { ...manifest, signal });
  await migrate(database);
  await session.client.query('analyze');
};

const load = async (
  client: pg.Client,
  source: BackupSource,
  { tables, sequences, signal }: Manifest & { signal: AbortSignal },
): Promise<void> => {
  await client.query('begin');
  await client.query('set local row_security = off');
  const present = await readTables(client);
  const all = present.map(({ name }) => quote(name));
  await client.query(`lock table ${all.join(', ')} in access exclusive mode`);
  // Checked again under the lock, because a server may have been started after the first check.
  await assertEmpty(client);
  const names = new Set(present.map(({ name }) => name));
  for (const table of tables) if (!names.has(table.name)) await createPartition(client, table);
  await clearSeeds(client, present.toReversed());
  // Triggers would change what they see: set times to live, for example.
  await client.query(triggers(present, 'disable'));
  for (const table of tables) await loadTable(client, source, { table, signal });
  for (const { name, last_value, is_called } of sequences)
    await client.query('select setval($1::regclass, $2, $3)', [quote(name), last_value, is_called]);
  await client.query(triggers(present, 'enable'));
  await dropRestoreTable(client);
  signal.throwIfAborted();
  await client.query('commit');
};

const createPartition = async (client: pg.Client, { name, partition }: BackupTable): Promise<void> => {
  if (partition === null)
    throw new BackupError(
      `The backup contains the table ${name}, which its schema does not have. Use another backup`,
    );
  const { parent, bound, options } = partition;
  const storage = options.length === 0 ? '' : ` with (${options.join(', ')})`;
  await client.query(`create table ${quote(name)} (like ${quote(parent)} including all)${storage}`);
  await client.query(`alter table ${quote(parent)} attach partition ${quote(name)} ${bound}`);
};

/** Deletes the rows that migrations have inserted; those of the backup replace them. */
const clearSeeds = async (client: pg.Client, tables: readonly { name: string }[]): Promise<void> => {
  for (const { name } of tables) await client.query(`delete from ${quote(name)}`);
};

const triggers = (tables: readonly { name: string }[], change: 'enable' | 'disable'): string =>
  tables.map(({ name }) => `alter table ${quote(name)} ${change} trigger user`).join('; ');

const loadTable = async (
  client: pg.Client,
  source: BackupSource,
  { table, signal }: { table: BackupTable; signal: AbortSignal },
): Promise<void> => {
  signal.throwIfAborted();
  const columns = table.columns.map((column) => `"${column}"`).join(', ');
  const target = client.query(
    new CopyWritable(`copy ${quote(table.name)} (${columns}) from stdin (format binary)`),
  );
  await readTableFile(source, table, { target, signal });
  const { rows } = await client.query<{ count: string }>(`select count(*) from ${quote(table.name)}`);
  if (Number(rows[0]?.count) !== table.rows)
    throw new BackupError(
      `${table.name} has ${rows[0]?.count} rows after it was loaded, and the backup has ${table.rows}. Nothing was restored`,
    );
};
