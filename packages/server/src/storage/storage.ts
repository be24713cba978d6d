// All that the server asks of its store, by noun.
import { assistantStorage, type AssistantStorage } from './assistants.ts';
import { checkpointStorage, type CheckpointStorage } from './checkpoints.ts';
import type { Database } from './database.ts';
import { runStorage, type RunStorage } from './runs.ts';
import { storeItemStorage, type StoreItemStorage } from './store-items.ts';
import { threadStorage, type ThreadStorage } from './threads.ts';

export interface Storage {
  assistants: AssistantStorage;
  checkpoints: CheckpointStorage;
  items: StoreItemStorage;
  runs: RunStorage;
  threads: ThreadStorage;
  /** Answers once the database has answered. */
  ping(): Promise<void>;
}

export const createStorage = (db: Database): Storage => ({
  assistants: assistantStorage(db),
  checkpoints: checkpointStorage(db),
  items: storeItemStorage(db),
  runs: runStorage(db),
  threads: threadStorage(db),
  async ping() {
    await db.query({ name: 'ping', text: 'select 1' }, []);
  },
});
