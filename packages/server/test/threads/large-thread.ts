// A thread with a long history, created by SQL.
import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/storage/postgres/database.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';

export interface Size {
  checkpoints: number;
  /** Writes of each checkpoint. */
  writes: number;
  /** Whether the values are stored too. */
  values?: boolean;
}

/** Its last checkpoint is the head, and it is idle. Each checkpoint and each write has a value of its own. */
export const makeLargeThread = async (
  db: Database,
  { checkpoints, writes, values = true }: Size,
  metadata: Record<string, unknown> = {},
): Promise<string> => {
  const thread_id = randomUUID();
  await threadStorage(db).create({ thread_id, metadata, config: {} });
  const id = (n: string): string => `('00000000-0000-6000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
  const blob = (text: string): string => `md5('${thread_id} ' || ${text})::uuid`;
  await db.script(`
    insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_id, metadata, body, channels, shape)
    select '${thread_id}', '', ${id('n')}, case when n > 1 then ${id('n - 1')} end, '{"source":"loop","step":' || n || '}',
      '{"v":4,"ts":"2026-01-01T00:00:00.000Z","channel_versions":{},"versions_seen":{}}',
      '{"log":"#' || ${blob('n')} || '"}', '{"tasks":[]}'
    from generate_series(1, ${checkpoints}) n;
    insert into checkpoint_heads values ('${thread_id}', '', ${id(String(checkpoints))});
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, ref)
    select '${thread_id}', '', ${id('n')}, 'task-' || w, 0, 'log', '#' || ${blob(`n || ' ' || w`)}
    from generate_series(1, ${checkpoints}) n, generate_series(1, ${writes}) w;
    insert into blobs (space, hash, payload)
    select '${thread_id}', ${blob('n')}, '"' || repeat('x', 200) || '"' from generate_series(1, ${checkpoints}) n where ${values};
    insert into blobs (space, hash, payload)
    select '${thread_id}', ${blob(`n || ' ' || w`)}, '"' || repeat('x', 200) || '"'
    from generate_series(1, ${checkpoints}) n, generate_series(1, ${writes}) w where ${values};
    analyze checkpoints, checkpoint_writes, blobs;`);
  return thread_id;
};

/** Counts the rows of a thread in all tables. */
export const rowsLeft = async (db: Database, thread_id: string): Promise<Record<string, number>> => {
  const tables = [
    'threads',
    'checkpoints',
    'checkpoint_heads',
    'checkpoint_writes',
    'replaced_writes',
    'runs',
    'deleted_threads',
  ];
  const counts = tables.map((table) => `(select count(*) from ${table} where thread_id = $1) as ${table}`);
  const text = `select ${counts.join(', ')}, (select count(*) from blobs where space = $1) as blobs`;
  const [row] = await db.query<Record<string, number>>({ name: 'rows_left', text }, [thread_id]);
  return Object.fromEntries(Object.entries(row ?? {}).filter(([, count]) => count > 0));
};

/** From now on counts the rows that each transaction deletes from the table; the returned function reads the counts. */
export const countDeletions = async (db: Database, table: string): Promise<() => Promise<number[]>> => {
  await db.script(`
    create table deletions_of_${table} (transaction text, rows bigint);
    create function count_deletions_of_${table}() returns trigger language plpgsql as $$
    begin
      insert into deletions_of_${table} select pg_current_xact_id()::text, count(*) from gone;
      return null;
    end $$;
    create trigger count_deletions after delete on ${table}
      referencing old table as gone for each statement execute function count_deletions_of_${table}();`);
  return async () => {
    const text = `select sum(rows)::integer as rows from deletions_of_${table} group by transaction having sum(rows) > 0`;
    return (await db.query<{ rows: number }>({ name: `deletions_${table}`, text }, [])).map(
      ({ rows }) => rows,
    );
  };
};
