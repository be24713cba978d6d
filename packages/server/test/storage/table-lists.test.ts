// Rows that belong to a thread or a workspace are deleted with it. A new table that nothing deletes from fails here.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase, type TestDatabase } from '../database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

/** Tables with the column, without partitions. `cascades`: a foreign key with this column deletes their rows. */
const tablesWith = (column: string): Promise<{ name: string; cascades: boolean; hasTenant: boolean }[]> =>
  db.query(
    {
      name: '',
      text: `select c.relname as name,
               exists (select 1 from pg_constraint f
                       where f.conrelid = c.oid and f.confdeltype = 'c' and a.attnum = any (f.conkey)) as cascades,
               exists (select 1 from pg_attribute t where t.attrelid = c.oid and t.attname = 'tenant_id') as "hasTenant"
             from pg_attribute a join pg_class c on c.oid = a.attrelid
             where a.attname = $1 and c.relkind in ('r', 'p') and not c.relispartition
               and c.relnamespace = 'svc'::regnamespace
             order by c.relname`,
    },
    [column],
  );

const deletedBy = (functions: string[]): Set<string> => {
  const texts = functions.map((name) =>
    readFileSync(new URL(`../../src/storage/schema/functions/${name}.sql`, import.meta.url), 'utf8'),
  );
  return new Set([...texts.join('\n').matchAll(/delete from (\w+)/g)].map(([, table = '']) => table));
};

/** Tables with the column whose rows neither a foreign key nor one of the functions deletes. */
const forgotten = async (column: string, functions: string[], ofWorkspaces = false): Promise<string[]> => {
  const deleted = deletedBy(functions);
  return (await tablesWith(column))
    .filter(({ hasTenant }) => hasTenant === ofWorkspaces)
    .filter(({ name, cascades }) => !cascades && !deleted.has(name))
    .map(({ name }) => name);
};

it('rows of a thread are deleted with it, in every table that has its id', async () => {
  const functions = ['threads/delete_thread', 'threads/sweep_deleted_thread', 'threads/delete_state'];
  expect(await forgotten('thread_id', functions)).toEqual([]);
});

it('rows of a run are deleted with it, in every table that has its id', async () => {
  const functions = ['threads/remove_run', 'threads/remove_runs', 'threads/delete_run', 'runs/end_run'];
  // Ticks of crons stay when their runs go, and expire by their own age.
  expect(await forgotten('run_id', functions)).toEqual(['cron_ticks']);
});

it('rows of a workspace are deleted with it or expire, in every table that has its id', async () => {
  const functions = [
    'delete_old_traces',
    'sweep_projects',
    'delete_trace_moves',
    'fold_trace_hours',
    'end_lost_traces',
  ];
  expect(
    await forgotten(
      'tenant_id',
      functions.map((name) => `traces/${name}`),
      true,
    ),
  ).toEqual([]);
});
