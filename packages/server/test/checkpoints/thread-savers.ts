// A saver for many threads: opens one SvcCheckpointer, which serves one run on one thread, for each thread that a test uses.
import { randomUUID } from 'node:crypto';
import * as documents from '@langchain/core/documents';
import * as messages from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import * as langgraph from '@langchain/langgraph';
import * as checkpoint from '@langchain/langgraph-checkpoint';
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { SvcCheckpointer } from '../../src/engine/checkpoints/checkpointer.ts';
import { CommitQueue } from '../../src/engine/checkpoints/commit-queue.ts';
import { RecentBlobs } from '../../src/engine/checkpoints/recent-blobs.ts';
import { ThreadSession } from '../../src/engine/checkpoints/thread-session.ts';
import { createCodec, type ValueCodec } from '../../src/engine/codec/value-codec.ts';
import {
  checkpointStorage,
  type CheckpointStorage,
} from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import type { Database } from '../../src/storage/postgres/database.ts';

export const codec = createCodec({ messages, langgraph, checkpoint, documents });

export class ThreadSavers extends BaseCheckpointSaver {
  readonly storage: CheckpointStorage;
  readonly #database: Database;
  readonly #queue: CommitQueue;
  #recent = new RecentBlobs();
  readonly #sync: boolean;
  readonly #codec: ValueCodec;
  readonly #sessions = new Map<string, Promise<{ saver: SvcCheckpointer; session: ThreadSession }>>();

  constructor(
    database: Database,
    { sync = true, values = codec }: { sync?: boolean; values?: ValueCodec } = {},
  ) {
    super();
    this.#database = database;
    this.#sync = sync;
    this.#codec = values;
    this.storage = checkpointStorage(database);
    this.#queue = new CommitQueue(this.storage);
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.['thread_id'] === undefined) return undefined;
    return (await this.#of(config)).saver.getTuple(config);
  }

  /** Lists the checkpoints of all threads when the config names none, newest first. */
  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const thread_id = config.configurable?.['thread_id'] as string | undefined;
    const { limit, ...filters } = options;
    const found: CheckpointTuple[] = [];
    for (const id of thread_id === undefined ? this.#sessions.keys() : [thread_id]) {
      const own = { configurable: { ...config.configurable, thread_id: id } };
      for await (const tuple of (await this.#of(own)).saver.list(own, filters)) found.push(tuple);
    }
    const idOf = (tuple: CheckpointTuple) => String(tuple.config.configurable?.['checkpoint_id']);
    yield* found.toSorted((a, b) => (idOf(a) < idOf(b) ? 1 : -1)).slice(0, limit);
  }

  async put(config: RunnableConfig, one: Checkpoint, metadata: CheckpointMetadata): Promise<RunnableConfig> {
    return (await this.#of(config)).saver.put(config, one, metadata);
  }

  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    task_id: string,
    task_path?: string,
  ): Promise<void> {
    return (await this.#of(config)).saver.putWrites(config, writes, task_id, task_path);
  }

  async deleteThread(thread_id: string): Promise<void> {
    await (await this.#of({ configurable: { thread_id } })).saver.deleteThread(thread_id);
    this.#sessions.delete(thread_id);
    this.#recent = new RecentBlobs();
  }

  /** Forgets all sessions and blobs: the next use reads everything from storage, as a new run of another process would. */
  forget(): void {
    this.#sessions.clear();
    this.#recent = new RecentBlobs();
  }

  /** The next use is that of a new run of the same process. */
  forgetSessions(): void {
    this.#sessions.clear();
  }

  /** Waits until everything is durable. */
  async flush(): Promise<void> {
    for (const opening of this.#sessions.values()) await (await opening).session.flush();
  }

  #of(config: RunnableConfig) {
    const thread_id = config.configurable?.['thread_id'] as string;
    const known = this.#sessions.get(thread_id);
    if (known) return known;
    const opening = this.#open(thread_id);
    this.#sessions.set(thread_id, opening);
    return opening;
  }

  async #open(thread_id: string) {
    await threadStorage(this.#database).create({ thread_id, metadata: {}, config: {} });
    const session = new ThreadSession({
      owner: { owner: randomUUID(), thread_id },
      thread_id,
      blob_space: thread_id,
      head: undefined,
      run_id: null,
      metadata: {},
      sync: this.#sync,
      committer: this.#queue,
      codec: this.#codec,
      recent: this.#recent,
      onFailure: () => undefined,
    });
    return { session, saver: new SvcCheckpointer(session, this.storage) };
  }
}
