// Rows for tests of SQL functions, and transactions that are rolled back.
import type { Database } from '../../src/storage/postgres/database.ts';

export type Row = Record<string, unknown>;

export const ids = {
  thread: '00000000-0000-4000-8000-000000000001',
  run: '00000000-0000-4000-8000-000000000002',
  later: '00000000-0000-4000-8000-000000000003',
  checkpoint: '00000000-0000-4000-8000-000000000004',
  assistant: '00000000-0000-4000-8000-000000000005',
  worker: '00000000-0000-4000-8000-000000000006',
} as const;

/** Runs `work` in a transaction, and rolls it back. */
export const rolledBack = async (db: Database, work: (tx: Database) => Promise<void>): Promise<void> => {
  const undo = new Error('The test is done');
  await db
    .transact(async (tx) => {
      await work(tx);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
};

/** Reads rows of a statement without a name, which is not prepared. */
export const read = (db: Database, text: string, values: unknown[] = []): Promise<Row[]> =>
  db.query<Row>({ text }, values);

/** Columns that are not in `row` have their defaults. */
export const insert = async (db: Database, table: string, row: Row): Promise<void> => {
  const columns = Object.keys(row).join(', ');
  await read(
    db,
    `insert into ${table} (${columns}) select ${columns} from json_populate_record(null::${table}, $1)`,
    [JSON.stringify(row)],
  );
};

/** A run that executes with lease 1, on a thread that was idle before. */
export const runningRow = {
  run_id: ids.run,
  thread_id: ids.thread,
  assistant_id: ids.assistant,
  status: 'running',
  kwargs: '{}',
  graph_id: 'agent',
  attempt: 1,
  lease_token: 1,
  worker_id: ids.worker,
  found_status: 'idle',
  found_interrupts: '{}',
};

/** A run that was never claimed. */
export const pendingRow = {
  run_id: ids.run,
  thread_id: ids.thread,
  assistant_id: ids.assistant,
  status: 'pending',
  kwargs: '{}',
  graph_id: 'agent',
  waits_for: 'slot',
};

/** A run that waits for the one before it on the thread. */
export const laterRow = { ...pendingRow, run_id: ids.later, waits_for: 'thread' };

/** Makes a checkpoint of the run the head of the thread. It has one remaining task. */
export const insertHead = async (db: Database): Promise<void> => {
  const key = { thread_id: ids.thread, checkpoint_ns: '', checkpoint_id: ids.checkpoint };
  const shape = JSON.stringify({ tasks: [{}] });
  await insert(db, 'checkpoints', {
    ...key,
    run_id: ids.run,
    metadata: '{}',
    body: '{}',
    channels: '{}',
    shape,
  });
  await insert(db, 'checkpoint_heads', key);
};
