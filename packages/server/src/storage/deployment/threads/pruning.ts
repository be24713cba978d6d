// Deletes checkpoints that a thread no longer needs, and blobs that nothing references any more.
import type { Database } from '../../postgres/database.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import { statement } from '../../postgres/statement.ts';

/** An ancestor of a checkpoint; `metadata` and `channels` are JSON text. */
export interface Ancestor {
  checkpoint_id: string;
  metadata: string;
  channels: string;
}

export interface KeptCheckpoint {
  checkpoint_ns: string;
  checkpoint_id: string;
}

/**
 * `more`: call again. `busy`: the thread has runs in flight. `changed`: a head has moved since the mark was read. `missing`: there is
 * no such thread.
 */
export type PruneOutcome = 'done' | 'more' | 'busy' | 'changed' | 'missing';

export const statements = {
  mark: statement<{ mark: string }>(
    `select heads_mark($1) as mark from threads where thread_id = $1 and metadata @@ $2::jsonpath`,
  ),
  // Namespaces have the form `node:task|node:task…`. Those of stateful subgraphs contain no task.
  heads: statement<KeptCheckpoint>(`select checkpoint_ns, checkpoint_id from checkpoint_heads
      where thread_id = $1 and (
        $2::text[] is null or strpos(split_part(checkpoint_ns, '|', 1), ':') = 0
        or split_part(split_part(checkpoint_ns, '|', 1), ':', 2) = any ($2))`),
  ancestors: statement<Ancestor>(`with recursive line as (
        select c.checkpoint_id, c.parent_id, c.metadata, c.channels, 0 as depth from checkpoints c
        where c.thread_id = $1 and c.checkpoint_ns = $2 and c.checkpoint_id = $3
        union all
        select c.checkpoint_id, c.parent_id, c.metadata, c.channels, l.depth + 1 from line l
        join checkpoints c on c.thread_id = $1 and c.checkpoint_ns = $2 and c.checkpoint_id = l.parent_id
        where l.depth < $4
      )
      select checkpoint_id, metadata, channels from line where depth > 0 order by depth`),
  prune: statement<{ outcome: PruneOutcome }>('select prune_thread($1, $2, $3, $4) as outcome'),
  garbage: statement<{ blob_space: string }>(
    'select blob_space from blob_garbage where due_at <= now() order by due_at limit $1',
  ),
  collect: statement<{ removed: number | null }>('select collect_blobs($1, $2) as removed'),
  postpone: statement(`update blob_garbage set due_at = now() + interval '1 minute' where blob_space = $1`),
};

export type PruningStorage = ReturnType<typeof pruningStorage>;

export const pruningStorage = (db: Database) => ({
  /** A text that changes when a head of the thread moves; undefined when the thread does not exist. */
  async findMark(thread_id: string, access: RowFilter): Promise<string | undefined> {
    const values = [thread_id, access.jsonpath];
    return (await db.query(statements.mark, values))[0]?.mark;
  },

  /** Heads of namespaces whose first segment names one of the tasks, or no task (as the root); all heads when `tasks` is null. */
  listHeads: (thread_id: string, tasks: string[] | null): Promise<KeptCheckpoint[]> =>
    db.query(statements.heads, [thread_id, tasks]),

  /** The checkpoint's ancestors, nearest first. */
  listAncestors: (kept: KeptCheckpoint & { thread_id: string }, limit: number): Promise<Ancestor[]> =>
    db.query(statements.ancestors, [kept.thread_id, kept.checkpoint_ns, kept.checkpoint_id, limit]),

  /** Deletes at most `count` checkpoints that are not in `kept`, oldest first. */
  async prune(
    thread_id: string,
    { mark, kept }: { mark: string; kept: KeptCheckpoint[] },
    count: number,
  ): Promise<PruneOutcome> {
    const values = [thread_id, mark, JSON.stringify(kept), count];
    const [row] = await db.query(statements.prune, values);
    return row?.outcome ?? 'missing';
  },

  /** Blob spaces that may contain unreferenced blobs. */
  async listGarbage(limit: number): Promise<string[]> {
    const rows = await db.query(statements.garbage, [limit]);
    return rows.map((row) => row.blob_space);
  },

  /** Deletes unreferenced blobs of the space; null when it is in use, so that it cannot be done now. */
  async collect(blob_space: string, count: number): Promise<number | null> {
    const [row] = await db.query(statements.collect, [blob_space, count]);
    return row?.removed ?? null;
  },

  async postpone(blob_space: string): Promise<void> {
    await db.query(statements.postpone, [blob_space]);
  },
});
