// Metadata of checkpoints that is changed after the checkpoint was written.
import type { Database } from '../postgres/database.ts';
import type { RowFilter } from '../postgres/row-filter.ts';
import { statement } from '../postgres/statement.ts';

/** `empty`: the thread has no checkpoint. */
export type MetadataPatchOutcome = 'done' | 'missing' | 'busy' | 'empty';

export const statements = {
  lock: statement(
    'select thread_id from threads where thread_id = $1 and metadata @@ $2::jsonpath for update',
  ),
  inFlight: statement(`select 1 from runs where thread_id = $1 and status in ('pending', 'running') limit 1`),
  head: statement<{
    checkpoint_id: string;
    metadata: string;
  }>(`select c.checkpoint_id, c.metadata from checkpoint_heads h
      join checkpoints c using (thread_id, checkpoint_ns, checkpoint_id)
      where h.thread_id = $1 and h.checkpoint_ns = ''`),
  update: statement(
    `update checkpoints set metadata = $3 where thread_id = $1 and checkpoint_ns = '' and checkpoint_id = $2`,
  ),
};

export const checkpointMetadataStorage = (db: Database) => ({
  /**
   * Replaces the metadata of the head of the root namespace by the result of `merge`. Holds the lock of the thread, as state updates
   * and new runs do. Merged in JavaScript, because the text may contain \u0000, which jsonb refuses.
   */
  patchMetadata: (
    thread_id: string,
    merge: (stored: Record<string, unknown>) => Record<string, unknown>,
    access: RowFilter,
  ): Promise<MetadataPatchOutcome> =>
    db.transact(async (tx) => {
      if ((await tx.query(statements.lock, [thread_id, access.jsonpath])).length === 0) return 'missing';
      // Statements of their own: they see what was committed while this transaction waited for the lock.
      if ((await tx.query(statements.inFlight, [thread_id])).length > 0) return 'busy';
      const [head] = await tx.query(statements.head, [thread_id]);
      if (head === undefined) return 'empty';
      const metadata = merge(JSON.parse(head.metadata) as Record<string, unknown>);
      await tx.query(statements.update, [thread_id, head.checkpoint_id, JSON.stringify(metadata)]);
      return 'done';
    }),
});
