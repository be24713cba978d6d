// Updates the schema, one process at a time: numbered migrations, forward only, each in its own transaction; then the functions, which
// are replaced as a whole when they have changed.
//
// During a rolling upgrade, nodes of two releases use one database, so a migration only adds. A contract migration removes what a later
// release no longer needs; `svc migrate --contract` applies it when all old nodes have stopped. A node works as long as no contract
// migration excludes it; it ignores migrations that it does not know.
import { Problem } from '@svc/contract/problem';
import type { Database } from '../postgres/database.ts';
import { assertNoRestore } from './restore-table.ts';
import { type FunctionSet, type Migration, readSchemaFiles, type SchemaFiles } from './sql-files.ts';

/** Advisory lock of migrating processes. Every process uses this number, for this purpose only. */
const lockKey = 7_301_955_201;

/** This release cannot use the schema of the database. */
export class SchemaConflict extends Problem {
  readonly what: string;
  readonly remedy: string;

  constructor(what: string, remedy: string) {
    super('conflict', `${what}. ${remedy}`);
    this.what = what;
    this.remedy = remedy;
  }
}

interface Applied {
  version: number;
  name: string;
  checksum: string;
  serves_from: number;
}

interface AppliedFunctions {
  revision: number;
  checksum: string;
}

/** What a migration would apply. */
export interface MigrationPlan {
  /** Migrations that the start of a server and `svc migrate` apply. */
  migrations: string[];
  /** True when the functions would be replaced. */
  functions: boolean;
  /** Migrations that only `svc migrate --contract` applies. */
  contract: string[];
}

/** Without functions, none are applied. */
type WantedFiles = Pick<SchemaFiles, 'migrations'> & { functions: FunctionSet | undefined };

interface Missing {
  migrations: Migration[];
  functions: FunctionSet | undefined;
  contract: Migration[];
}

const prepare = `
  create schema if not exists svc;
  create table if not exists svc.schema_migrations (
    version     integer primary key,
    name        text        not null,
    checksum    text        not null,
    applied_at  timestamptz not null default now(),
    serves_from integer     not null default 0
  );
  create table if not exists svc.schema_functions (
    only_row   boolean primary key default true check (only_row),
    revision   integer     not null,
    checksum   text        not null,
    applied_at timestamptz not null default now()
  );`;

/**
 * Applies what is missing; contract migrations only when `contract` is set. Returns the names of what was applied.
 * Throws SchemaConflict when a contract migration excludes this release, or an applied migration differs from its file; `conflict` when a
 * restore has not finished.
 */
export const migrate = async (db: Database, { contract = false } = {}): Promise<{ applied: string[] }> => {
  await assertNoRestore(db);
  const files = readSchemaFiles();
  const applied: string[] = [];
  while (nextOf(await findMissing(db, files), contract)) {
    const name = await db.transact((tx) => applyNext(tx, files, contract));
    if (name !== undefined) applied.push(name);
  }
  return { applied };
};

/**
 * Applies exactly these migrations, without functions, so that rows of a database with these migrations can be loaded. Throws `conflict`
 * when the database has others.
 */
export const migrateTo = async (db: Database, names: readonly string[]): Promise<void> => {
  const { migrations } = readSchemaFiles();
  const others = (await readAppliedMigrations(db)).filter(({ name }) => !names.includes(name));
  if (others.length > 0)
    throw new Problem(
      'conflict',
      `The database has other migrations (${others.map(({ name }) => name).join(', ')}): use a database without the schema svc`,
    );
  const wanted = migrations.filter(({ name }) => names.includes(name));
  const files = { migrations: wanted, functions: undefined };
  while (nextOf(await findMissing(db, files), true)) await db.transact((tx) => applyNext(tx, files, true));
};

/** What migrate() would apply. Changes nothing. */
export const planMigration = async (db: Database): Promise<MigrationPlan> => {
  await assertNoRestore(db);
  const { migrations, functions, contract } = await findMissing(db, readSchemaFiles());
  return {
    migrations: migrations.map(({ name }) => name),
    functions: functions !== undefined,
    contract: contract.map(({ name }) => name),
  };
};

export interface SchemaState extends MigrationPlan {
  /** True when no migration was ever applied. */
  isEmpty: boolean;
  /** Applied migrations of newer releases, which this release ignores. */
  newer: string[];
}

/** Compares the schema with this release. Throws `conflict` as migrate() does. */
export const readSchemaState = async (db: Database): Promise<SchemaState> => {
  const [plan, applied] = await Promise.all([planMigration(db), readAppliedMigrations(db)]);
  const known = new Set(readSchemaFiles().migrations.map(({ version }) => version));
  const newer = applied.filter(({ version }) => !known.has(version)).map(({ name }) => name);
  return { ...plan, isEmpty: applied.length === 0, newer };
};

/** Throws `conflict` when the schema is too old for this release, or a contract migration excludes it. */
export const checkSchema = async (db: Database, files: SchemaFiles): Promise<void> => {
  const { migrations, functions } = await findMissing(db, files);
  if (migrations.length === 0 && functions === undefined) return;
  throw new Problem('conflict', 'The schema is older than this server: run svc migrate');
};

const nextOf = (
  { migrations, functions, contract }: Missing,
  withContract: boolean,
): Migration | FunctionSet | undefined =>
  migrations[0] ?? functions ?? (withContract ? contract[0] : undefined);

/** Applies the next migration. Checks again under the lock, since another process may have applied it meanwhile. */
const applyNext = async (
  tx: Database,
  files: WantedFiles,
  contract: boolean,
): Promise<string | undefined> => {
  // No time limit, since waiting for the lock or building an index may take long.
  await tx.script('set local statement_timeout = 0; set local lock_timeout = 0');
  await tx.script(`select pg_advisory_xact_lock(${lockKey})`);
  await tx.script(prepare);
  const next = nextOf(await findMissing(tx, files), contract);
  if (next === undefined) return undefined;
  if ('revision' in next) return applyFunctions(tx, next);
  await tx.script(next.text);
  await tx.query(
    { text: 'insert into schema_migrations (version, name, checksum, serves_from) values ($1, $2, $3, $4)' },
    [next.version, next.name, next.checksum, next.servesFrom ?? 0],
  );
  return next.name;
};

/**
 * Drops and creates all functions of the set. `create or replace` cannot change a result type, and leaves the old overload behind when
 * parameters change. Trigger functions are only replaced: triggers depend on them, and their types never change.
 */
const applyFunctions = async (
  tx: Database,
  { names, text, checksum, revision }: FunctionSet,
): Promise<string> => {
  const list = names.map((name) => `'${name}'`).join(', ');
  await tx.script(`
    set local check_function_bodies = off;
    do $$
    declare
      v_function regprocedure;
    begin
      for v_function in
        select p.oid from pg_proc p
        where p.pronamespace = 'svc'::regnamespace and p.prorettype <> 'trigger'::regtype and p.proname in (${list})
      loop
        execute format('drop function %s', v_function);
      end loop;
    end $$;`);
  await tx.script(text);
  await tx.query(
    {
      text: `insert into schema_functions (revision, checksum) values ($1, $2)
        on conflict (only_row) do update
        set revision = excluded.revision, checksum = excluded.checksum, applied_at = now()`,
    },
    [revision, checksum],
  );
  return `functions, revision ${revision}`;
};

const findMissing = async (db: Database, { migrations: known, functions }: WantedFiles): Promise<Missing> => {
  const [applied, appliedFunctions] = await Promise.all([
    readAppliedMigrations(db),
    readApplied<AppliedFunctions>(db, 'select revision, checksum from schema_functions'),
  ]);
  checkApplied(known, applied);
  const versions = new Set(applied.map(({ version }) => version));
  const missing = known.filter(({ version }) => !versions.has(version));
  return {
    migrations: missing.filter(({ servesFrom }) => servesFrom === undefined),
    functions: functions && isNewer(functions, appliedFunctions[0]) ? functions : undefined,
    contract: missing.filter(({ servesFrom }) => servesFrom !== undefined),
  };
};

/** Functions of a newer release stay. A changed file with the same revision, as during development, is applied. */
const isNewer = (own: FunctionSet, applied: AppliedFunctions | undefined): boolean =>
  applied === undefined ||
  own.revision > applied.revision ||
  (own.revision === applied.revision && own.checksum !== applied.checksum);

const checkApplied = (known: Migration[], applied: Applied[]): void => {
  const newest = Math.max(...known.map(({ version }) => version));
  const byVersion = new Map(known.map((migration) => [migration.version, migration]));
  for (const { version, name, checksum, serves_from } of applied) {
    if (serves_from > newest) {
      throw new SchemaConflict(
        `Contract migration ${name} was applied to this database; it requires a release that has migration ${serves_from}`,
        'Start a newer release',
      );
    }
    // Released migrations do not change.
    const migration = byVersion.get(version);
    if (migration && migration.checksum !== checksum)
      throw new SchemaConflict(
        `The database contains data of a checkout before 0.1.0 (migration ${name} differs)`,
        'Start with an empty data folder or database',
      );
  }
};

// All columns: checkouts before 0.1.0 had no serves_from.
const readAppliedMigrations = (db: Database): Promise<Applied[]> =>
  readApplied<Applied>(db, 'select * from schema_migrations order by version');

/** No rows when the table does not exist. */
const readApplied = async <Row>(db: Database, text: string): Promise<Row[]> => {
  try {
    return await db.query<Row>({ text }, []);
  } catch (error) {
    if ((error as { code?: string }).code === '42P01') return [];
    throw error;
  }
};
