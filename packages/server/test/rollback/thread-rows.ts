// The stored rows of a thread, without the columns that record which run wrote them and when.
import type { Database } from '../../src/storage/postgres/database.ts';

interface Place {
  checkpoint_ns: string;
  checkpoint_id: string;
}

export interface ThreadRows {
  thread: { status: string; interrupts: string; error: string | null } | undefined;
  heads: Place[];
  checkpoints: (Place & { parent_id: string | null })[];
  writes: (Place & { task_id: string; idx: number })[];
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
  const rows = <T>(name: keyof typeof statements): Promise<T[]> =>
    db.query<T>({ name: `rows_${name}`, text: statements[name] }, [thread_id]);
  const [thread] = await rows<NonNullable<ThreadRows['thread']>>('thread');
  return {
    thread,
    heads: await rows('heads'),
    checkpoints: await rows('checkpoints'),
    writes: await rows('writes'),
  };
};
