// Threads as rows of the database, so that a test can restore what another version of the engine has stored.
import type { Database } from '../../src/storage/postgres/database.ts';

const tables = ['threads', 'checkpoints', 'checkpoint_heads', 'checkpoint_writes', 'blobs'] as const;

/** The rows of one thread, by table. */
export type StoredThread = Record<(typeof tables)[number], unknown[]>;

export const readThread = async (database: Database, thread_id: string): Promise<StoredThread> => {
  const read = async (table: string): Promise<unknown[]> => {
    const key = table === 'blobs' ? 'space' : 'thread_id';
    const text = `select coalesce(json_agg(t order by t::text), '[]') as rows from ${table} t where ${key} = $1`;
    const [row] = await database.query<{ rows: unknown[] }>({ name: `read_${table}`, text }, [thread_id]);
    return row?.rows ?? [];
  };
  const entries = await Promise.all(tables.map(async (table) => [table, await read(table)] as const));
  return Object.fromEntries(entries) as StoredThread;
};

export const restoreThread = async (database: Database, stored: StoredThread): Promise<void> => {
  for (const table of tables) {
    const text = `insert into ${table} select * from json_populate_recordset(null::${table}, $1)`;
    await database.query({ name: `restore_${table}`, text }, [JSON.stringify(stored[table])]);
  }
};
