import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkSchema, migrate, planMigration } from '../src/storage/schema/migrate.ts';
import { openDatabase } from '../src/storage/postgres/database.ts';
import { readFunctionFiles, readFunctionManifest, readSchemaFiles } from '../src/storage/schema/sql-files.ts';
import { schemaSnapshot } from '../scripts/schema-snapshot.ts';
import { testDatabase } from './database.ts';
import { fixture } from './fixture.ts';

const database = fixture(() => testDatabase());
const files = readSchemaFiles();

const record = (version: number, name: string, checksum: string, servesFrom = 0) =>
  database.query(
    {
      name: 'record',
      text: 'insert into schema_migrations (version, name, checksum, serves_from) values ($1, $2, $3, $4)',
    },
    [version, name, checksum, servesFrom],
  );
const forget = (version: number) =>
  database.query({ name: 'forget', text: 'delete from schema_migrations where version = $1' }, [version]);

describe('the schema', () => {
  it('is the committed snapshot (npm run generate writes it)', async () => {
    const committed = readFileSync(
      new URL('../src/storage/schema/schema.snapshot.sql', import.meta.url),
      'utf8',
    );
    expect(await schemaSnapshot(database)).toBe(committed);
  });

  it('is unchanged when it is up to date', async () => {
    expect(await migrate(database)).toEqual({ applied: [] });
  });

  it('is checked without being changed', async () => {
    await expect(checkSchema(database, files)).resolves.toBeUndefined();
    await using empty = await testDatabase({ migrated: false });
    await expect(checkSchema(empty, files)).rejects.toThrow('run svc migrate');
  });

  it('is created once by processes that start together', async () => {
    await using first = await testDatabase({ migrated: false });
    await using second = await openDatabase(first.options);
    const applied = await Promise.all([migrate(first), migrate(second)]);
    const names = applied.flatMap((result) => result.applied);
    expect(names).toContain('0001-auth');
    expect(new Set(names).size).toBe(names.length);
    await checkSchema(second, files);
  });

  it('waits for a running migration, however long it takes', async () => {
    await using slow = await testDatabase({ migrated: false });
    await using hasty = await openDatabase({
      connection: { ...slow.options.connection, lock_timeout: 20, statement_timeout: 20 },
    });
    let migrating: Promise<unknown> | undefined;
    await slow.transact(async (tx) => {
      await tx.script('select pg_advisory_xact_lock(7301955201)');
      migrating = migrate(hasty);
      await tx.script('select pg_sleep(0.2)');
    });
    await migrating;
    await checkSchema(slow, files);
  });

  it('is accepted with migrations of a newer release, which only add', async () => {
    await record(9998, '9998-future', 'x');
    await expect(migrate(database)).resolves.toEqual({ applied: [] });
    await expect(checkSchema(database, files)).resolves.toBeUndefined();
    await forget(9998);
  });

  it('is rejected when a contract migration has removed what this release uses', async () => {
    await record(9999, '9999-removal.contract', 'x', 9998);
    await expect(migrate(database)).rejects.toThrow(/requires a release that has migration 9998/);
    await expect(checkSchema(database, files)).rejects.toThrow(/Start a newer release/);
    await forget(9999);
  });

  it('keeps the functions of a newer release when an older one starts', async () => {
    await using shared = await testDatabase();
    await shared.script(`update schema_functions set revision = revision + 1, checksum = 'newer'`);
    await shared.script(
      'create or replace function trace_day(p_start timestamptz, p_days_kept integer) returns date language sql as $$ select current_date $$',
    );
    expect(await migrate(shared)).toEqual({ applied: [] });
    await checkSchema(shared, files);
  });

  it('replaces functions whose parameters or results have changed, and leaves no overload', async () => {
    await using changed = await testDatabase();
    await changed.script(`
      drop function heads_mark(uuid);
      create function heads_mark(p_thread_id uuid, p_more integer) returns integer language sql as 'select 1';
      update schema_functions set revision = revision - 1;`);
    expect(await planMigration(changed)).toEqual({ migrations: [], functions: true, contract: [] });
    const { applied } = await migrate(changed);
    expect(applied).toEqual([`functions, revision ${files.functions.revision}`]);
    expect(await schemaSnapshot(changed)).toBe(await schemaSnapshot(database));
  });

  it('has one file per function, named after it, and a manifest (npm run generate writes it)', async () => {
    const { names, checksum } = readFunctionFiles();
    expect(readFunctionManifest().checksum).toBe(checksum);
    const found = await database.query<{ proname: string }>(
      {
        name: 'functions',
        text: `select proname from pg_proc where pronamespace = 'svc'::regnamespace and proname = any ($1)`,
      },
      [names],
    );
    expect(found.map(({ proname }) => proname).toSorted()).toEqual(names.toSorted());
  });

  it('is rejected, and not changed, when it is of a checkout before 0.1.0', async () => {
    await using early = await testDatabase({ migrated: false });
    await early.script(`
      create schema svc;
      create table svc.schema_migrations (
        version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now());
      insert into svc.schema_migrations (version, name, checksum) values (1, '0001-init', 'x'), (2, '0002-webhooks', 'x');`);
    const before = await schemaSnapshot(early);
    const message =
      'The database contains data of a checkout before 0.1.0 (migration 0001-init differs). Start with an empty data folder or database';
    await expect(migrate(early)).rejects.toThrow(message);
    await expect(planMigration(early)).rejects.toThrow(message);
    await expect(checkSchema(early, files)).rejects.toThrow(message);
    expect(await schemaSnapshot(early)).toBe(before);
  });

  it('has the migrations of every release unchanged', () => {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
    for (const tag of git('tag').split('\n').filter(Boolean))
      expect(
        git('diff', '--name-only', '--diff-filter=a', tag, '--', '../src/storage/schema/migrations'),
      ).toBe('');
  });

  it('is rejected when a migration differs from the one that was applied', async () => {
    await using edited = await testDatabase();
    await edited.script(`update schema_migrations set checksum = 'altered' where version = 5`);
    await expect(migrate(edited)).rejects.toThrow(/migration 0005-exports differs/);
  });

  it('has GIN indexes without pending lists, except for batch inserts', async () => {
    const rows = await database.query<{ indexdef: string }>(
      {
        name: 'gin',
        text: `select indexdef from pg_indexes where schemaname = 'svc' and indexdef like '% gin %'
          and tablename not like 'trace_runs%'`,
      },
      [],
    );
    expect(rows.length).toBeGreaterThan(2);
    for (const { indexdef } of rows) expect(indexdef).toContain('fastupdate=off');
  });
});
