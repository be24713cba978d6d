// Times to live: defaults for new threads and items, and removal of what has expired.
import type { Database } from '../../postgres/database.ts';
import type { ThreadTtl, TtlStrategy } from './threads.ts';
import { statement } from '../../postgres/statement.ts';

export interface ExpiryDefaults {
  /** For threads that are created without a ttl; null for none. */
  thread: ThreadTtl;
  /** Minutes; null for none. */
  item: number | null;
  /** Whether reading an item restarts its time to live. */
  refreshOnRead: boolean;
}

export interface ExpiredThread {
  thread_id: string;
  ttl_strategy: TtlStrategy;
}

export const statements = {
  configure: statement(`update expiry_defaults d
      set thread_ttl_strategy = $1, thread_ttl_minutes = $2, item_ttl_minutes = $3, item_refresh_on_read = $4
      where (d.thread_ttl_strategy, d.thread_ttl_minutes, d.item_ttl_minutes, d.item_refresh_on_read)
        is distinct from ($1, $2::float8, $3::float8, $4)`),
  threads: statement<ExpiredThread>(`select t.thread_id, t.ttl_strategy from threads t
      where t.expires_at <= now()
        and not exists (select 1 from runs r where r.thread_id = t.thread_id and r.status in ('pending', 'running'))
      order by t.expires_at limit $1`),
  delete: statement<{ deleted: boolean }>('select expire_thread($1) as deleted'),
  done: statement(`update threads set ttl_done_at = greatest(state_updated_at, ttl_since)
      where thread_id = $1 and expires_at <= now() and ttl_strategy = 'keep_latest' returning thread_id`),
  items: statement<{ count: number }>(`with over as (
        select namespace, key from store_items where expires_at <= now()
        order by expires_at limit $1 for update skip locked
      ), gone as (
        delete from store_items i using over o where i.namespace = o.namespace and i.key = o.key returning 1
      )
      select count(*) as count from gone`),
};

export type ExpiryStorage = ReturnType<typeof expiryStorage>;

export const expiryStorage = (db: Database) => ({
  /** Sets the defaults for threads and items that any node creates from now on. */
  async configure({ thread, item, refreshOnRead }: ExpiryDefaults): Promise<void> {
    const values = [thread?.strategy ?? null, thread?.minutes ?? null, item, refreshOnRead];
    await db.query(statements.configure, values);
  },

  /** Expired threads without runs in flight, the longest expired first. */
  listThreads: (limit: number): Promise<ExpiredThread[]> => db.query(statements.threads, [limit]),

  /** Deletes the thread as `threads.delete` does, if it is still expired and has no runs in flight. */
  async deleteThread(thread_id: string): Promise<boolean> {
    return (await db.query(statements.delete, [thread_id]))[0]?.deleted ?? false;
  },

  /** Records that the strategy `keep_latest` was applied: the thread expires again only after its state changes. */
  async markKept(thread_id: string): Promise<boolean> {
    return (await db.query(statements.done, [thread_id])).length > 0;
  },

  /** Deletes expired items; returns how many. */
  async deleteItems(limit: number): Promise<number> {
    return (await db.query(statements.items, [limit]))[0]?.count ?? 0;
  },
});
