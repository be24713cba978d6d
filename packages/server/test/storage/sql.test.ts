// Migrations replace the functions of the database while servers call them.
import { readFileSync } from 'node:fs';
import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { notStoredError } from '../../src/engine/checkpoints/checkpoint-not-stored.ts';
import { type Database, openDatabase } from '../../src/storage/postgres/database.ts';
import { policyOf, refusalOf } from '../../src/storage/postgres/sql-state.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());
const call = (text: string) => database.query({ text }, []);

describe('a call of a function that calls one that was just replaced', () => {
  it('is repeated', async () => {
    // A sequence keeps its value when the call fails.
    await database.script('create sequence calls');
    await database.script(
      `create function outer_call() returns text language plpgsql as $$
        begin
          if nextval('calls') = 1 then perform replaced_meanwhile(); end if;
          return 'done';
        end $$`,
    );
    expect(await call('select outer_call() as answer')).toEqual([{ answer: 'done' }]);
  });

  it('fails when the function does not come back', async () => {
    await database.script(
      `create function hopeless_call() returns void language plpgsql as $$
        begin perform never_there(); end $$`,
    );
    await expect(call('select hopeless_call()')).rejects.toThrow('function never_there() does not exist');
  });
});

// Rows that belong to a thread or a workspace are deleted with it. A new table that nothing deletes from fails here.

const db = fixture(() => testDatabase());

/** Tables with the column, without partitions. `cascades`: a foreign key with this column deletes their rows. */
const tablesWith = (column: string): Promise<{ name: string; cascades: boolean }[]> =>
  db.query(
    {
      name: '',
      text: `select c.relname as name,
               exists (select 1 from pg_constraint f
                       where f.conrelid = c.oid and f.confdeltype = 'c' and a.attnum = any (f.conkey)) as cascades
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
const forgotten = async (column: string, functions: string[]): Promise<string[]> => {
  const deleted = deletedBy(functions);
  return (await tablesWith(column))
    .filter(({ name, cascades }) => !cascades && !deleted.has(name))
    .map(({ name }) => name);
};

it('rows of a thread are deleted with it, in every table that has its id', async () => {
  const functions = ['threads/delete_thread', 'threads/sweep_deleted_thread', 'threads/delete_state'];
  // Rows of jobs report what was done to a thread, also its deletion, and expire with their job. A trace names a thread of its application.
  expect(await forgotten('thread_id', functions)).toEqual(['job_rows', 'trace_runs']);
});

it('rows of a run are deleted with it, in every table that has its id', async () => {
  const functions = ['threads/remove_run', 'threads/remove_runs', 'threads/delete_run', 'runs/end_run'];
  // Ticks of crons and rows of jobs stay when their runs go, and expire. The others name runs of traces and exports.
  const others = ['own_trace_runs', 'trace_attachments'];
  expect(await forgotten('run_id', functions)).toEqual([
    'cron_ticks',
    'export_events',
    'feedback',
    'feedback_tokens',
    'job_rows',
    ...others,
  ]);
});

it('rows of an assistant or a cron are deleted with it, in every table that has its id', async () => {
  // The tables of both themselves, and runs, which stay until they expire, with the id of the assistant that they were created for.
  expect(await forgotten('assistant_id', [])).toEqual(['assistants', 'runs']);
  expect(await forgotten('cron_id', [])).toEqual(['crons']);
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
    ),
  ).toEqual([]);
});

// How errors of PostgreSQL reach callers, and whether the connection is kept.

const backendOf = async (on: Database): Promise<number> => {
  const [row] = await on.query<{ pid: number }>(
    { name: 'backend', text: 'select pg_backend_pid() as pid' },
    [],
  );
  return row?.pid ?? 0;
};

const raising = (code: string): string =>
  `do $$ begin raise exception 'raised' using errcode = '${code}'; end $$`;

/** Raises an error with this code; returns what the caller gets, and whether the connection is used again. */
const outcomeOf = async (code: string) => {
  await using own = await openDatabase({ ...db.options, poolMax: 1 });
  const before = await backendOf(own);
  const error = await own.script(raising(code)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return {
    code: error instanceof Problem ? error.code : (error as { code?: string }).code,
    message: error instanceof Problem ? error.message : '',
    isKept: (await backendOf(own)) === before,
  };
};

describe('an error of PostgreSQL', () => {
  it.each([
    ['53100', 'The disk of the database is full', true],
    ['53200', 'The database is out of memory', true],
    ['53300', 'The database has no free connection', false],
    ['53400', 'The database has no resources left', true],
    ['57P01', 'The database cannot be reached at the moment', false],
    ['57P03', 'The database cannot be reached at the moment', false],
    ['57P05', 'The database cannot be reached at the moment', false],
    ['58030', 'The database cannot use its disk', true],
    ['58P01', 'The database cannot use its disk', true],
    ['08006', 'The database cannot be reached at the moment', false],
    ['25006', 'The database is read-only at the moment', false],
    [
      '26000',
      'The database does not keep prepared statements: a pooler in transaction mode is in between',
      false,
    ],
    ['57014', 'The database took too long', false],
    ['55P03', 'The database took too long', true],
  ])('%s becomes unavailable with a message', async (code, message, isKept) => {
    expect(await outcomeOf(code)).toEqual({ code: 'unavailable', message, isKept });
  });

  it('about a value becomes invalid', async () => {
    expect(await outcomeOf('22P02')).toMatchObject({ code: 'invalid', isKept: true });
  });

  it.each(['40001', '40P01', '23505', '42703', 'XX000'])('%s is thrown unchanged', async (code) => {
    expect(await outcomeOf(code)).toEqual({ code, message: '', isKept: true });
  });

  it.each([
    ['22P02', 'invalid', 'has a text that the database cannot store'],
    ['23505', 'constraint', 'was refused by the database (SQLSTATE 23505)'],
    ['54000', 'limit', 'has a name that is too long, or a value that is too large, for the database'],
    ['54001', 'limit', 'has a name that is too long, or a value that is too large, for the database'],
    ['42501', 'statement', 'was refused by the database (SQLSTATE 42501)'],
  ])(
    '%s refuses a statement for the reason %s, which the error of a checkpoint names',
    async (code, refusal, reason) => {
      const error: unknown = await db.script(raising(code)).catch((thrown: unknown) => thrown);
      expect(refusalOf(error)).toBe(refusal);
      expect(notStoredError(error, 1, undefined).message).toBe(`The checkpoint ${reason}`);
    },
  );

  it('has the same meaning when the server uses another language', () => {
    const error = Object.assign(new pg.DatabaseError('doppelter Schlüsselwert', 0, 'error'), {
      severity: 'FEHLER',
      code: '23505',
    });
    expect(policyOf(error)).toMatchObject({ kind: 'bug', connection: 'kept' });
    const ending = Object.assign(new pg.DatabaseError('Verbindung abgebrochen', 0, 'error'), {
      severity: 'FATAL',
      code: 'XX000',
    });
    expect(policyOf(ending)).toMatchObject({ kind: 'unavailable', connection: 'dropped' });
  });
});

describe('a statement that a read-only server rejected', () => {
  it('is sent again on a new connection, and all older connections are closed', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 2 });
    await own.script('create table svc.moved (n integer)');
    const older = await own.transact(async (tx) => [await backendOf(tx), await backendOf(own)]);
    // As on a server that was the primary when these connections were opened.
    await Promise.all(
      older.map(() =>
        own.transact(async (tx) => {
          await tx.script(`set session characteristics as transaction read only`);
          await tx.script('select pg_sleep(0.05)');
        }),
      ),
    );
    await own.query({ name: 'insert', text: 'insert into moved values (1)' }, []);
    await own.transact((tx) => tx.query({ name: 'insert', text: 'insert into moved values (1)' }, []));
    expect(await own.query({ name: 'count', text: 'select count(*)::integer as n from moved' }, [])).toEqual([
      { n: 2 },
    ]);
    const newer = await own.transact(async (tx) => [await backendOf(tx), await backendOf(own)]);
    expect(newer.filter((pid) => older.includes(pid))).toEqual([]);
  });
});
