import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSchema, migrate } from '../src/storage/migrate.ts';
import { openDatabase } from '../src/storage/database.ts';
import { schemaSnapshot } from '../src/storage/schema-snapshot.ts';
import { testDatabase, type TestDatabase } from './database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const record = (version: number, name: string, checksum: string) =>
  database.query({ name: 'record', text: 'insert into schema_migrations values ($1, $2, $3)' }, [
    version,
    name,
    checksum,
  ]);
const forget = (version: number) =>
  database.query({ name: 'forget', text: 'delete from schema_migrations where version = $1' }, [version]);

describe('the schema', () => {
  it('is the committed snapshot (npm run generate writes it)', async () => {
    const committed = readFileSync(new URL('../src/storage/schema.snapshot.sql', import.meta.url), 'utf8');
    expect(await schemaSnapshot(database)).toBe(committed);
  });

  it('is left alone when it is up to date', async () => {
    expect(await migrate(database)).toEqual({ applied: [] });
  });

  it('is checked without being changed', async () => {
    await expect(checkSchema(database)).resolves.toBeUndefined();
    await using empty = await testDatabase({ migrated: false });
    await expect(checkSchema(empty)).rejects.toThrow('run svc migrate');
  });

  it('is made once by processes that start together', async () => {
    await using first = await testDatabase({ migrated: false });
    await using second = await openDatabase(first.options);
    const applied = await Promise.all([migrate(first), migrate(second)]);
    const names = applied.flatMap((result) => result.applied);
    expect(names).toContain('0001-init');
    expect(new Set(names).size).toBe(names.length);
    await checkSchema(second);
  });

  it('waits for whoever migrates, however long it takes', async () => {
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
    await checkSchema(slow);
  });

  it('is refused when it is newer than the server', async () => {
    await record(9999, '9999-future', 'x');
    await expect(migrate(database)).rejects.toThrow(/9999-future, which this server does not know/);
    await forget(9999);
  });

  it('is refused when a migration is not the one that was applied', async () => {
    const rows = await database.query<{ checksum: string }>(
      { name: 'sum', text: 'select checksum from schema_migrations where version = 1' },
      [],
    );
    await forget(1);
    await record(1, '0001-init', 'altered');
    await expect(migrate(database)).rejects.toThrow(/0001-init is not the one that was applied/);
    await forget(1);
    await record(1, '0001-init', rows[0]?.checksum ?? '');
  });

  it('has GIN indexes without pending lists, save of what comes in batches', async () => {
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
