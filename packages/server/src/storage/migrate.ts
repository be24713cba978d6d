// Brings the schema up to date: numbered SQL files, forward only, each in a transaction, one process at a time.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Problem } from '@svc/contract/problem';
import type { Database } from './database.ts';

const folder = new URL('./migrations/', import.meta.url);
/** Whoever holds this migrates; the number only has to be the same everywhere. */
const lockKey = 7_301_955_201;

interface Migration {
  version: number;
  name: string;
  text: string;
  checksum: string;
}

interface Applied {
  version: number;
  name: string;
  checksum: string;
}

const prepare = `
  create schema if not exists svc;
  create table if not exists svc.schema_migrations (
    version    integer primary key,
    name       text        not null,
    checksum   text        not null,
    applied_at timestamptz not null default now()
  );`;

/** Applies what is missing. Throws `conflict` when the schema is newer than this server, or was changed by hand. */
export const migrate = async (db: Database): Promise<{ applied: string[] }> => {
  const migrations = await readMigrations();
  const applied: string[] = [];
  if (await isUpToDate(db, migrations)) return { applied };
  for (;;) {
    const name = await db.transact((tx) => applyNext(tx, migrations));
    if (name === undefined) return { applied };
    applied.push(name);
  }
};

/** Throws `conflict` when the schema is not the one that this server works with. */
export const checkSchema = async (db: Database): Promise<void> => {
  if (await isUpToDate(db, await readMigrations())) return;
  throw new Problem('conflict', 'The schema is older than this server: run svc migrate');
};

/** In one transaction; looks again under the lock, since another process may have been faster. */
const applyNext = async (tx: Database, migrations: Migration[]): Promise<string | undefined> => {
  // Waiting for the lock and building an index may take any time.
  await tx.script('set local statement_timeout = 0; set local lock_timeout = 0');
  await tx.script(`select pg_advisory_xact_lock(${lockKey})`);
  await tx.script(prepare);
  const [next] = await findMissing(tx, migrations);
  if (next === undefined) return undefined;
  await tx.script(next.text);
  await tx.query(
    {
      name: 'migrate_record',
      text: 'insert into schema_migrations (version, name, checksum) values ($1, $2, $3)',
    },
    [next.version, next.name, next.checksum],
  );
  return next.name;
};

/** The usual start, without a lock. */
const isUpToDate = async (db: Database, migrations: Migration[]): Promise<boolean> => {
  try {
    return (await findMissing(db, migrations)).length === 0;
  } catch (error) {
    const undefinedTable = '42P01';
    if ((error as { code?: string }).code === undefinedTable) return false;
    throw error;
  }
};

const findMissing = async (db: Database, migrations: Migration[]): Promise<Migration[]> => {
  const present = await db.query<Applied>(
    {
      name: 'migrate_present',
      text: 'select version, name, checksum from schema_migrations order by version',
    },
    [],
  );
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, name, checksum } of present) {
    const migration = known.get(version);
    if (!migration) {
      throw new Problem(
        'conflict',
        `The schema has migration ${name}, which this server does not know: it is older than the schema. Start a newer server`,
      );
    }
    if (migration.checksum !== checksum) {
      throw new Problem('conflict', `Migration ${name} is not the one that was applied to this database`);
    }
  }
  const versions = new Set(present.map(({ version }) => version));
  return migrations.filter(({ version }) => !versions.has(version));
};

const readMigrations = async (): Promise<Migration[]> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).toSorted();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8');
      const checksum = createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
      return { version: Number(file.slice(0, 4)), name: file.slice(0, -4), text, checksum };
    }),
  );
};
