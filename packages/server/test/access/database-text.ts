// Everything that a database contains, as text, to search it for values that must not be stored.
import type { Database } from '../../src/storage/postgres/database.ts';

export const databaseText = async (database: Database): Promise<string> => {
  const tables = await database.query<{ name: string }>(
    {
      name: 'test_tables',
      text: `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`,
    },
    [],
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      database.query<{ row: string }>(
        { name: `test_rows_${name}`, text: `select t::text as row from ${name} t` },
        [],
      ),
    ),
  );
  return rows
    .flat()
    .map(({ row }) => row)
    .join('\n');
};
