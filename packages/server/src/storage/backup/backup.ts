// Writes a backup: a logical copy of the schema svc, as of one moment, while servers use the database.
//
// All tables are read in one transaction with one snapshot. Only the tables that contain rows are locked (access share), not the parents
// of partitions, so servers can attach partitions of new days during a backup. The folder gets its name when everything is on the disk.
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type pg from 'pg';
import { flushFolder } from '../flush-folder.ts';
import type { DatabaseOptions } from '../postgres/database.ts';
import { BackupError } from './backup-error.ts';
import { type CatalogTable, quote, readSequences, readTables } from './catalog.ts';
import { CopyReadable } from './copy-streams.ts';
import { type BackupTable, type Manifest, manifestName, manifestText, newManifest } from './manifest.ts';
import { openSession } from './session.ts';
import { writeTableFile } from './table-file.ts';

export interface BackupOptions {
  /** It must not exist, or must be empty. */
  folder: string;
  /** Version of this program. */
  program: string;
}

/** Returns the manifest. Removes what it has written when it fails. */
export const writeBackup = async (
  database: DatabaseOptions,
  { folder, program }: BackupOptions,
): Promise<Manifest> => {
  await assertFree(folder);
  const unfinished = join(
    dirname(folder),
    `${basename(folder)}.unfinished-${randomBytes(4).toString('hex')}`,
  );
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  try {
    await using session = await openSession(database);
    const manifest = await copyAll(session.client, unfinished, program);
    await writeFile(join(unfinished, manifestName), manifestText(manifest), { mode: 0o600, flush: true });
    await flushFolder(unfinished);
    await rename(unfinished, folder);
    await flushFolder(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
};

const assertFree = async (folder: string): Promise<void> => {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (found.length > 0) throw new BackupError(`${folder} is not empty. Name a new folder for the backup`);
};

interface Snapshot {
  created_at: string;
  postgres: string;
}

const copyAll = async (client: pg.Client, folder: string, program: string): Promise<Manifest> => {
  await client.query('begin isolation level repeatable read, read only');
  // Fails instead of leaving out rows that a policy of row level security hides.
  await client.query('set local row_security = off');
  const { rows } = await client.query<Snapshot>(
    `select to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created_at, current_setting('server_version') as postgres`,
  );
  const migrations = await readMigrations(client);
  const listed = await readTables(client);
  await client.query(`lock table ${listed.map(({ name }) => quote(name)).join(', ')} in access share mode`);
  const tables: BackupTable[] = [];
  for (const table of listed) tables.push(await copyTable(client, folder, table));
  // After the tables: sequences are not part of a snapshot, and must not be behind the rows.
  const sequences = await readSequences(client);
  await client.query('commit');
  return newManifest({ program, ...(rows[0] as Snapshot), migrations, tables, sequences });
};

const readMigrations = async (client: pg.Client): Promise<Manifest['migrations']> => {
  const { rows: found } = await client.query(`select to_regclass('svc.schema_migrations') as oid`);
  if ((found[0] as { oid: string | null }).oid === null)
    throw new BackupError('The database contains no data of svc, so there is nothing to back up');
  const { rows } = await client.query<Manifest['migrations'][number]>(
    'select version, name from svc.schema_migrations order by version',
  );
  return rows;
};

const copyTable = async (client: pg.Client, folder: string, table: CatalogTable): Promise<BackupTable> => {
  const columns = table.columns.map((column) => `"${column}"`).join(', ');
  const rows = client.query(
    new CopyReadable(`copy ${quote(table.name)} (${columns}) to stdout (format binary)`),
  );
  const written = await writeTableFile(folder, table.name, rows);
  return { ...table, rows: rows.rows, ...written };
};
