import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../src/storage/migrate.ts';
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

  it('has GIN indexes without pending lists', async () => {
    const rows = await database.query<{ indexdef: string }>(
      {
        name: 'gin',
        text: `select indexdef from pg_indexes where schemaname = 'svc' and indexdef like '% gin %'`,
      },
      [],
    );
    expect(rows.length).toBeGreaterThan(2);
    for (const { indexdef } of rows) expect(indexdef).toContain('fastupdate=off');
  });
});
