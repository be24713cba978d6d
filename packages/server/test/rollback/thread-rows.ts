// A thread as it is stored, without what records who wrote it and when.
import type { Database } from '../../src/storage/database.ts';

export interface ThreadRows {
  thread: unknown;
  heads: unknown[];
  checkpoints: unknown[];
  writes: unknown[];
}

const statements = {
  thread: 'select status, interrupts, error from threads where thread_id = $1',
  heads: 'select checkpoint_ns, checkpoint_id from checkpoint_heads where thread_id = $1 order by 1',
  checkpoints: `select checkpoint_ns, checkpoint_id, parent_id, metadata, body, channels, wrote, shape from checkpoints
    where thread_id = $1 order by checkpoint_ns, checkpoint_id`,
  writes: `select checkpoint_ns, checkpoint_id, task_id, idx, channel, ref from checkpoint_writes
    where thread_id = $1 order by 1, 2, 3, 4`,
};

export const threadRows = async (db: Database, thread_id: string): Promise<ThreadRows> => {
  const [[thread], heads, checkpoints, writes] = (await Promise.all(
    Object.entries(statements).map(([name, text]) => db.query({ name: `rows_${name}`, text }, [thread_id])),
  )) as [unknown[], unknown[], unknown[], unknown[]];
  return { thread, heads, checkpoints, writes };
};
