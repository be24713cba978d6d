// The checkpoint saver that the engine uses: one for each run, bound to the run's thread. It has no state: pending writes
// are in the ThreadSession, stored ones in the database.
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints/checkpoints.ts';
import type { BlobRow, StoredCheckpoint } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { summaryOf } from './checkpoint-summary.ts';
import { idsOfInterrupts } from './open-interrupts.ts';
import { joinDeltas, walkDeltas } from './delta-history.ts';
import { engineWrites, recordedIn } from '../../storage/deployment/checkpoints/recorded-state.ts';
import type { ThreadSession } from './thread-session.ts';

/** `id`: that of the engine, where the stored one differs. */
type Body = Omit<Checkpoint, 'channel_values' | 'id'> & { id?: string };

/** Called with the root checkpoint that the engine starts from. When it throws, the engine executes nothing. */
export type OnStart = (start: {
  saver: SvcCheckpointer;
  found: StoredCheckpoint;
  /** It is the newest root checkpoint. */
  isHead: boolean;
}) => Promise<void>;

export class SvcCheckpointer extends BaseCheckpointSaver {
  readonly #session: ThreadSession;
  readonly #storage: CheckpointStorage;
  readonly #onStart: OnStart | undefined;
  #continuesSuperstep = false;

  constructor(session: ThreadSession, storage: CheckpointStorage, onStart?: OnStart) {
    super();
    this.#session = session;
    this.#storage = storage;
    this.#onStart = onStart;
  }

  /**
   * This attempt continues the superstep in which an earlier attempt of the run was lost. `commanded`: the root checkpoint to which the command of
   * the run has written.
   */
  continueSuperstep(commanded: string | undefined): void {
    this.#continuesSuperstep = true;
    if (commanded !== undefined) this.#session.markCommanded(commanded);
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { ns, checkpoint_id } = this.#place(config);
    const session = this.#session;
    if (session.isBlank(ns)) return undefined;
    await this.#readHead(ns);
    const wanted = checkpoint_id === undefined ? session.head(ns) : session.storedIds.of(checkpoint_id);
    if (wanted === null || wanted === undefined) return undefined;
    const found = session.pendingCheckpoint(ns, wanted) ?? (await this.#find(ns, wanted));
    if (!found) return undefined;
    const [tuple] = await this.#tuples([found]);
    const isStart = ns === '' && session.beginsIn(ns);
    if (tuple) this.#record(found, tuple);
    if (isStart) await this.#onStart?.({ saver: this, found, isHead: wanted === session.head(ns) });
    if (tuple && this.#continuesSuperstep) this.#takeInput(config, tuple);
    return tuple;
  }

  /**
   * In an attempt that continues, the engine resumes every subgraph, and ignores its input. A subgraph with a memory of its own also has checkpoints of
   * earlier supersteps and runs: at such a checkpoint it has not begun, and takes its input. The engine passes the config that it uses afterwards.
   */
  #takeInput({ configurable }: RunnableConfig, { metadata }: CheckpointTuple): void {
    const at = configurable?.['checkpoint_map'] as Record<string, string> | undefined;
    if (!at || configurable?.['__pregel_resuming'] !== true) return;
    const { storedIds } = this.#session;
    // The parents also have the other entries of the map at which the run began, which this attempt does not get.
    const isOfThisStep = Object.entries(at).every(([ns, id]) => storedIds.of(id) === metadata?.parents?.[ns]);
    if (!isOfThisStep) configurable['__pregel_resuming'] = false;
  }

  /** The newest stored checkpoint of a namespace. */
  async findHead(ns: string): Promise<StoredCheckpoint | undefined> {
    const { thread_id } = this.#session;
    const found = await this.#storage.find({ thread_id, checkpoint_ns: ns });
    this.#session.recordHead(ns, found?.checkpoint.checkpoint_id ?? null);
    return found;
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const session = this.#session;
    await session.flush();
    const before = options.before?.configurable?.['checkpoint_id'] as string | undefined;
    const ns = config.configurable?.['checkpoint_ns'] as string | undefined;
    const history = await this.#storage.history({
      thread_id: this.#place(config).thread_id,
      checkpoint_ns: ns,
      before: before && session.storedIds.of(before),
    });
    const found = history
      .filter(({ checkpoint }) => matches(JSON.parse(checkpoint.metadata), options.filter))
      .slice(0, options.limit);
    const tuples = await this.#tuples(found);
    // A run that replays a checkpoint finds the checkpoints of its subgraphs by a list, and continues from them.
    if (ns !== undefined) await this.#readHead(ns);
    if (ns !== undefined && found[0] && tuples[0]) this.#record(found[0], tuples[0]);
    yield* tuples;
  }

  /** The head of a namespace is needed before the first put there, which moves it. */
  async #readHead(ns: string): Promise<void> {
    const session = this.#session;
    if (session.head(ns) === undefined)
      session.recordHead(ns, await this.#storage.findHeadId(session.thread_id, ns));
  }

  /**
   * Records the checkpoint from which the engine continues in a namespace: the first that it reads there. It reads others afterwards, such as
   * the newest one beside that of a fork, or ancestors that have the values of delta channels.
   */
  #record({ checkpoint, writes }: StoredCheckpoint, { pendingWrites = [] }: CheckpointTuple): void {
    const session = this.#session;
    const { checkpoint_ns: ns, checkpoint_id, channels, body, metadata, shape, run_id } = checkpoint;
    const isHead = ns === '' && checkpoint_id === session.head(ns);
    if (isHead && session.openInterrupts.known === undefined)
      session.openInterrupts.load(checkpoint_id, pendingWrites, summaryOf(checkpoint)?.tasks);
    if (!session.beginsIn(ns)) return;
    session.recordLoaded(ns, {
      checkpoint_id,
      step: (JSON.parse(metadata) as CheckpointMetadata).step,
      versions: (JSON.parse(body) as Body).channel_versions,
      refs: JSON.parse(channels) as Record<string, string>,
      writes: engineWrites(writes),
      recorded: recordedIn(writes),
      made_by: run_id,
      shape,
    });
  }

  /** The values of delta channels at a checkpoint, which the engine then changes by its writes. */
  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { ns, checkpoint_id } = this.#place(config);
    const session = this.#session;
    const { storedIds, codec, cache } = session;
    if (checkpoint_id === undefined) await this.#readHead(ns);
    const start = checkpoint_id === undefined ? session.head(ns) : storedIds.of(checkpoint_id);
    const source = {
      find: async (id: string) => session.pendingCheckpoint(ns, id) ?? (await this.#find(ns, id)),
      loadedSeed: (id: string) => session.seed(ns, id),
    };
    const deltas = await walkDeltas(source, start, channels);
    const refs = [...deltas.values()].flatMap(({ seed = [], writes }) => [
      seed,
      writes.map(({ ref }) => ref),
    ]);
    const blobs = await this.#blobs(refs.flat().flatMap((ref) => codec.hashesOf(ref)));
    return joinDeltas(deltas, (ref) => codec.join(ref, (hash) => blobs.get(hash), cache));
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const { thread_id, ns, checkpoint_id: parent } = this.#place(config);
    const checkpoint_id = await this.#session.put(ns, parent, checkpoint, metadata);
    return { configurable: { thread_id, checkpoint_ns: ns, checkpoint_id } };
  }

  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    task_id: string,
    task_path?: string,
  ): Promise<void> {
    const { ns, checkpoint_id } = this.#place(config);
    if (checkpoint_id === undefined) throw new Error('putWrites needs checkpoint_id in config.configurable');
    await this.#session.putWrites(ns, checkpoint_id, writes, task_id, task_path);
  }

  /** Ids of the interrupts that this run found, when it began, at a root checkpoint (by default the head) and in its subgraphs. */
  async foundInterrupts(checkpoint_id: string | undefined, run_id: string): Promise<string[]> {
    const { thread_id, codec, cache } = this.#session;
    const refs = await this.#storage.foundInterrupts(thread_id, checkpoint_id, run_id);
    const blobs = await this.#blobs(refs.flatMap((ref) => codec.hashesOf(ref)));
    return refs.flatMap((ref) => idsOfInterrupts(codec.join(ref, (hash) => blobs.get(hash), cache)));
  }

  async deleteThread(thread_id: string): Promise<void> {
    this.#assertOwnThread(thread_id);
    await this.#storage.deleteThread(thread_id);
  }

  /** Reads a checkpoint from storage, after the pending writes of this run are stored. Those of a state update are stored at its end only. */
  async #find(ns: string, checkpoint_id: string): Promise<StoredCheckpoint | undefined> {
    const session = this.#session;
    await session.flush();
    const found = await this.#storage.find({
      thread_id: session.thread_id,
      checkpoint_ns: ns,
      checkpoint_id,
    });
    const pending = session.pendingWrites(ns, checkpoint_id);
    return found && pending.length > 0 ? { ...found, writes: [...found.writes, ...pending] } : found;
  }

  #assertOwnThread(thread_id: unknown): string {
    if (thread_id !== this.#session.thread_id) throw new Error('A run can access only its own thread');
    return thread_id as string;
  }

  #place(config: RunnableConfig) {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable ?? {};
    return {
      thread_id: this.#assertOwnThread(thread_id),
      ns: checkpoint_ns as string,
      checkpoint_id: (checkpoint_id || undefined) as string | undefined,
    };
  }

  /** Builds the tuples of checkpoints, with their values. One query reads the blobs of all of them. */
  async #tuples(found: StoredCheckpoint[]): Promise<CheckpointTuple[]> {
    const { codec, cache } = this.#session;
    const refs = found.flatMap(({ checkpoint, writes }) => [
      ...Object.values(JSON.parse(checkpoint.channels) as Record<string, string>),
      ...engineWrites(writes).map((write) => write.ref),
    ]);
    const blobs = await this.#blobs(refs.flatMap((ref) => codec.hashesOf(ref)));
    const join = (ref: string): unknown => codec.join(ref, (hash) => blobs.get(hash), cache);
    return found.map((one) => this.#tuple(one, join));
  }

  /** The blobs with these hashes, and those that they reference: from the session if it knows them, the others from storage. */
  async #blobs(wanted: string[]): Promise<Map<string, BlobRow>> {
    const session = this.#session;
    const blobs = new Map<string, BlobRow>();
    const missing = new Set<string>();
    for (let hash = wanted.pop(); hash !== undefined; hash = wanted.pop()) {
      if (blobs.has(hash)) continue;
      const known = session.findBlob(hash);
      if (!known) missing.add(hash);
      else {
        blobs.set(hash, known);
        wanted.push(...(known.refs ?? []));
      }
    }
    const stored = await this.#storage.blobs(session.blob_space, [...missing]);
    for (const blob of stored) blobs.set(blob.hash, blob);
    session.recordBlobs(stored);
    return blobs;
  }

  #tuple({ checkpoint, writes }: StoredCheckpoint, join: (ref: string) => unknown): CheckpointTuple {
    const { thread_id, checkpoint_ns, checkpoint_id, parent_id, run_id } = checkpoint;
    const { id = checkpoint_id, ...body } = JSON.parse(checkpoint.body) as Body;
    this.#session.storedIds.record(id, checkpoint_id);
    const channels = Object.entries(JSON.parse(checkpoint.channels) as Record<string, string>);
    const at = (id: string): RunnableConfig => ({
      configurable: { thread_id, checkpoint_ns, checkpoint_id: id },
    });
    return {
      config: at(checkpoint_id),
      checkpoint: {
        ...body,
        id,
        channel_values: Object.fromEntries(channels.map(([channel, ref]) => [channel, join(ref)])),
      },
      // By the run id the engine recognises a further attempt of the same run, and continues the run.
      metadata: {
        parents: {},
        ...JSON.parse(checkpoint.metadata),
        ...(run_id === null ? {} : { run_id }),
      } as CheckpointMetadata,
      pendingWrites: engineWrites(writes).map(({ task_id, channel, ref }) => [task_id, channel, join(ref)]),
      ...(parent_id === null ? {} : { parentConfig: at(parent_id) }),
    };
  }
}

const matches = (metadata: Record<string, unknown>, filter: Record<string, unknown> = {}): boolean =>
  Object.entries(filter).every(([key, value]) => JSON.stringify(metadata[key]) === JSON.stringify(value));

// The saver of stateless runs: the engine can interrupt and stream checkpoints, but nothing is stored.
export class EphemeralCheckpointer extends BaseCheckpointSaver {
  getTuple(): Promise<CheckpointTuple | undefined> {
    return Promise.resolve(undefined);
  }

  async *list(): AsyncGenerator<CheckpointTuple> {}

  put(config: RunnableConfig, checkpoint: Checkpoint): Promise<RunnableConfig> {
    return Promise.resolve({ configurable: { ...config.configurable, checkpoint_id: checkpoint.id } });
  }

  putWrites(): Promise<void> {
    return Promise.resolve();
  }

  deleteThread(): Promise<void> {
    return Promise.resolve();
  }
}
