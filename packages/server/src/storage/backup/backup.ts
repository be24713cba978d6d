// Writes a backup: a logical copy of the schema svc, as of one moment, while servers use the database.
//
// All tables are read in one transaction with one snapshot. Only the tables that contain rows are locked (access share), not the parents
// of partitions, so servers can attach partitions of new days during a backup. The manifest is written last.
import type pg from 'pg';
import type { DatabaseOptions } from '../postgres/database.ts';
import { BackupError, type BackupTarget } from './places.ts';
import { type CatalogTable, quote, readSequences, readTables, readTableSize } from './catalog.ts';
import { CopyReadable } from './copy-streams.ts';
import { type BackupTable, type Manifest, manifestText, newManifest } from './manifest.ts';
import { openSession } from './session.ts';
import { writeTableFile } from './table-file.ts';

export interface BackupOptions {
  target: BackupTarget;
  /** Version of this program. */
  program: string;
  signal: AbortSignal;
  /** Called before each table is copied. */
  onProgress?(progress: BackupProgress): void;
}

export interface BackupProgress {
  /** The table that is copied next. */
  table: string;
  /** Number of tables that are copied. */
  copied: number;
  /** Number of all tables. */
  all: number;
  /** Compressed bytes of the copied tables. */
  bytes: number;
}

/** Returns the manifest. Removes what it has written when it fails or is aborted. */
export const writeBackup = async (
  database: DatabaseOptions,
  { target, ...options }: BackupOptions,
): Promise<Manifest> => {
  const { signal } = options;
  await target.open();
  try {
    await using session = await openSession(database);
    const manifest = await copyAll(session.client, target, options);
    signal.throwIfAborted();
    await target.finish(manifestText(manifest));
    return manifest;
  } catch (error) {
    const cause: unknown = signal.aborted ? signal.reason : error;
    await discard(target, cause);
    throw cause;
  }
};

const discard = async (target: BackupTarget, cause: unknown): Promise<void> => {
  try {
    await target.discard();
  } catch {
    throw new BackupError(
      `${target.place} contains files of an unfinished backup, which could not be removed. Delete them`,
      { cause },
    );
  }
};

interface Snapshot {
  created_at: string;
  postgres: string;
}

const copyAll = async (
  client: pg.Client,
  target: BackupTarget,
  { program, signal, onProgress }: Omit<BackupOptions, 'target'>,
): Promise<Manifest> => {
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
  for (const table of listed) {
    const bytes = tables.reduce((total, copied) => total + copied.bytes, 0);
    onProgress?.({ table: table.name, copied: tables.length, all: listed.length, bytes });
    tables.push(await copyTable(client, target, { table, signal }));
  }
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

const copyTable = async (
  client: pg.Client,
  target: BackupTarget,
  { table, signal }: { table: CatalogTable; signal: AbortSignal },
): Promise<BackupTable> => {
  const columns = table.columns.map((column) => `"${column}"`).join(', ');
  const bytesExpected = await readTableSize(client, table.name);
  signal.throwIfAborted();
  const rows = client.query(
    new CopyReadable(`copy ${quote(table.name)} (${columns}) to stdout (format binary)`),
  );
  const written = await writeTableFile(target, { table: table.name, rows, bytesExpected }, signal);
  return { ...table, rows: rows.rows, ...written };
};
