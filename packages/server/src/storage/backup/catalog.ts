// What there is to back up, from the catalog of PostgreSQL: tables and partitions, their columns, and sequences.
import type pg from 'pg';
import { restoreTable } from '../schema/restore-table.ts';
import { BackupError } from './places.ts';
import type { BackupSequence, BackupTable } from './manifest.ts';

export type CatalogTable = Pick<BackupTable, 'name' | 'partition' | 'columns'>;

/** Filled by migrations, or by processes about themselves: not part of a backup. */
const excluded = ['schema_migrations', 'schema_functions', 'workers', restoreTable];
/** Migrations insert rows into these. */
const seeded = ['expiry_defaults', 'model_prices', 'run_queue_size'];

export const quote = (name: string): string => `svc."${name.replaceAll('"', '""')}"`;

// A partition of a day that is being dropped is detached first; then it is not part of the data anymore.
const tablesText = `
  select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound,
    coalesce(c.reloptions, '{}') as options,
    array(select a.attname::text from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns
  from pg_class c
  left join pg_inherits i on i.inhrelid = c.oid and not i.inhdetachpending
  left join pg_class p on p.oid = i.inhparent
  where c.relnamespace = to_regnamespace('svc') and c.relkind = 'r' and c.relname <> all ($1)
    and (i.inhrelid is not null or c.relname !~ '^trace_(runs|attachments)_[0-9]{8}$')
  order by c.relname`;

interface TableRow {
  name: string;
  parent: string | null;
  bound: string | null;
  options: string[];
  columns: string[];
}

/** The tables with rows of their own; a table comes after those that it refers to. */
export const readTables = async (client: pg.ClientBase): Promise<CatalogTable[]> => {
  const { rows } = await client.query<TableRow>(tablesText, [excluded]);
  const references = await readReferences(client);
  const tables = rows.map(({ name, parent, bound, options, columns }) => ({
    name,
    partition: parent === null || bound === null ? null : { parent, bound, options },
    columns,
  }));
  return inOrder(tables, references);
};

/** Foreign keys between tables: pairs of the table that refers and the table that is referred to. */
const readReferences = async (client: pg.ClientBase): Promise<{ from: string; to: string }[]> => {
  const { rows } = await client.query<{ from: string; to: string }>(
    `select c.conrelid::regclass::text as from, c.confrelid::regclass::text as to from pg_constraint c
     where c.connamespace = to_regnamespace('svc') and c.contype = 'f' and c.conrelid <> c.confrelid`,
  );
  return rows;
};

const inOrder = (
  tables: readonly CatalogTable[],
  references: readonly { from: string; to: string }[],
): CatalogTable[] => {
  const ordered: CatalogTable[] = [];
  const waiting = new Set(tables);
  while (waiting.size > 0) {
    const names = new Set([...waiting].map(({ name }) => name));
    const free = [...waiting].filter(
      ({ name }) => !references.some(({ from, to }) => from === name && names.has(to)),
    );
    if (free.length === 0) throw new Error('Foreign keys form a cycle');
    for (const table of free) waiting.delete(table);
    ordered.push(...free);
  }
  return ordered;
};

/** Bytes of a table and its long values on the disk: about the size of its rows, before they are compressed. */
export const readTableSize = async (client: pg.ClientBase, name: string): Promise<number> => {
  const { rows } = await client.query<{ bytes: string }>('select pg_table_size($1::regclass) as bytes', [
    quote(name),
  ]);
  return Number(rows[0]?.bytes);
};

export const readSequences = async (client: pg.ClientBase): Promise<BackupSequence[]> => {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = to_regnamespace('svc') and relkind = 'S' order by relname`,
  );
  const sequences: BackupSequence[] = [];
  for (const { name } of rows) {
    const { rows: values } = await client.query<Omit<BackupSequence, 'name'>>(
      `select last_value::text, is_called from ${quote(name)}`,
    );
    sequences.push(...values.map((value) => ({ name, ...value })));
  }
  return sequences;
};

/** Throws a BackupError that names tables when the database contains data of svc. */
export const assertEmpty = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = to_regnamespace('svc') and c.relkind = 'r' and c.relname <> all ($1)`,
    [[...seeded, 'schema_migrations', 'schema_functions']],
  );
  const filled: string[] = [];
  for (const { name } of rows) {
    const found = await client.query(`select from ${quote(name)} limit 1`);
    if (found.rowCount !== 0) filled.push(name);
  }
  if (filled.length > 0)
    throw new BackupError(
      `The database is not empty: ${filled.toSorted().slice(0, 5).join(', ')} contain rows. Restore into a new database, or a new data folder (--data-dir)`,
    );
};
