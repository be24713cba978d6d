// Threads. A thread's values are those of its head checkpoint and are read there; a row holds no copy.
import { sql, type Expression, type SqlBool } from 'kysely';
import type { Database } from './database.ts';

export interface ThreadRow {
  thread_id: string;
  blob_space: string;
  status: 'idle' | 'busy' | 'interrupted' | 'error';
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  /** JSON text. */
  interrupts: string;
  /** JSON text. */
  error: string | null;
  created_at: string;
  updated_at: string;
  state_updated_at: string;
}

export interface ThreadFilter {
  ids?: string[] | undefined;
  status?: ThreadRow['status'] | undefined;
  /** Exact containment: every key with exactly this value, objects and lists by containment as jsonb has it. */
  metadata?: Record<string, unknown> | undefined;
}

export interface ThreadPage {
  limit: number;
  offset: number;
  sort_by: 'thread_id' | 'status' | 'created_at' | 'updated_at' | 'state_updated_at';
  sort_order: 'asc' | 'desc';
}

const columnNames = [
  'thread_id',
  'blob_space',
  'status',
  'metadata',
  'config',
  'interrupts',
  'error',
  'created_at',
  'updated_at',
  'state_updated_at',
] as const;
const columns = columnNames.join(', ');

const statements = {
  create: {
    name: 'threads_create',
    text: `insert into threads (thread_id, blob_space, metadata, config) values ($1, $1, $2, $3)
      on conflict (thread_id) do nothing returning ${columns}`,
  },
  get: { name: 'threads_get', text: `select ${columns} from threads where thread_id = $1` },
  patch: {
    name: 'threads_patch',
    text: `update threads set metadata = metadata || $2, updated_at = now() where thread_id = $1 returning ${columns}`,
  },
  delete: { name: 'threads_delete', text: 'select delete_thread($1) as deleted' },
  deleteOfAssistant: {
    name: 'threads_delete_of_assistant',
    text: `select delete_thread(t.thread_id) from threads t where t.metadata @> jsonb_build_object('assistant_id', $1::text)`,
  },
  watch: {
    name: 'threads_watch',
    text: `update threads set watched_until = greatest(watched_until, now() + $2 * interval '1 ms')
      where thread_id = $1 returning thread_id`,
  },
  copy: { name: 'threads_copy', text: 'select copy_thread($1, $2, $3) as copied' },
};

export type ThreadStorage = ReturnType<typeof threadStorage>;

const conditions = ({ ids, status, metadata }: ThreadFilter): Expression<SqlBool>[] => [
  ...(ids === undefined ? [] : [sql<SqlBool>`thread_id = any (${ids}::uuid[])`]),
  ...(status === undefined ? [] : [sql<SqlBool>`status = ${status}`]),
  ...(metadata === undefined || Object.keys(metadata).length === 0
    ? []
    : [sql<SqlBool>`metadata @> ${JSON.stringify(metadata)}::jsonb`]),
];

export const threadStorage = (db: Database) => ({
  /** The new row, or undefined when the id is taken. */
  async create(thread: Pick<ThreadRow, 'thread_id' | 'metadata' | 'config'>): Promise<ThreadRow | undefined> {
    const { thread_id, metadata, config } = thread;
    const values = [thread_id, JSON.stringify(metadata), JSON.stringify(config)];
    return (await db.query<ThreadRow>(statements.create, values))[0];
  },

  async find(thread_id: string): Promise<ThreadRow | undefined> {
    return (await db.query<ThreadRow>(statements.get, [thread_id]))[0];
  },

  /** Merges into the metadata, key by key. */
  async patch(thread_id: string, metadata: Record<string, unknown>): Promise<ThreadRow | undefined> {
    return (await db.query<ThreadRow>(statements.patch, [thread_id, JSON.stringify(metadata)]))[0];
  },

  /** Removes the thread with its runs, checkpoints and values; false when there is none. */
  async delete(thread_id: string): Promise<boolean> {
    return (await db.query<{ deleted: boolean }>(statements.delete, [thread_id]))[0]?.deleted ?? false;
  },

  /** Removes the threads whose last run was of this assistant. */
  async deleteOfAssistant(assistant_id: string): Promise<void> {
    await db.query(statements.deleteOfAssistant, [assistant_id]);
  },

  /** For this long somebody reads the events of the thread's runs. False when there is no such thread. */
  async watch(thread_id: string, ms: number): Promise<boolean> {
    return (await db.query(statements.watch, [thread_id, ms])).length > 0;
  },

  /** False when there is no such thread. */
  async copy(source: string, copy: string, metadata: Record<string, unknown>): Promise<boolean> {
    const rows = await db.query<{ copied: boolean }>(statements.copy, [
      source,
      copy,
      JSON.stringify(metadata),
    ]);
    return rows[0]?.copied ?? false;
  },

  search(filter: ThreadFilter, { limit, offset, sort_by, sort_order }: ThreadPage): Promise<ThreadRow[]> {
    return db.kysely
      .selectFrom('threads')
      .select(columnNames)
      .where((eb) => eb.and(conditions(filter)))
      .orderBy(sort_by, sort_order)
      .orderBy('thread_id', sort_order)
      .limit(limit)
      .offset(offset)
      .execute() as Promise<ThreadRow[]>;
  },

  async count(filter: ThreadFilter): Promise<number> {
    const row = await db.kysely
      .selectFrom('threads')
      .select(sql<number>`count(*)`.as('count'))
      .where((eb) => eb.and(conditions(filter)))
      .executeTakeFirstOrThrow();
    return row.count;
  },
});
